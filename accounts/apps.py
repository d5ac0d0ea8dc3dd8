from django.apps import AppConfig
from django.core.checks import register
from django.db.models.signals import post_migrate
from django.urls import register_converter

from accounts.converters import PublicId, RequestId, Token


class AccountsConfig(AppConfig):
    name = "accounts"
    verbose_name = "Customers"

    def ready(self) -> None:
        # Both need the models, which exist only from here on.
        from accounts import checks, signals, staff

        # For the addresses of every app, whichever is read first.
        register_converter(PublicId, "public_id")
        register_converter(RequestId, "request_id")
        register_converter(Token, "token")
        register(checks.legal_pages_are_complete, deploy=True)
        signals.connect()
        post_migrate.connect(staff.make_groups, dispatch_uid="accounts.staff")
