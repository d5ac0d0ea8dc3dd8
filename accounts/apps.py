from django.apps import AppConfig
from django.core.checks import register
from django.db.models.signals import post_migrate


class AccountsConfig(AppConfig):
    name = "accounts"
    verbose_name = "Customers"

    def ready(self) -> None:
        # Both need the models, which exist only from here on.
        from accounts import checks, signals, staff

        register(checks.legal_pages_are_complete, deploy=True)
        signals.connect()
        post_migrate.connect(staff.make_groups, dispatch_uid="accounts.staff")
