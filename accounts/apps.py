from django.apps import AppConfig
from django.core.checks import register
from django.db.models.signals import post_migrate


class AccountsConfig(AppConfig):
    name = "accounts"
    verbose_name = "Customers"

    def ready(self) -> None:
        # These modules import models, which are not loaded before ready() runs.
        from accounts import terms
        from accounts.authentication import signals
        from accounts.staff import groups

        register(terms.check_legal_pages, deploy=True)
        signals.connect()
        post_migrate.connect(groups.create_groups, dispatch_uid="accounts.staff.groups")
