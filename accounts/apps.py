from django.apps import AppConfig
from django.conf import settings
from django.core.checks import Warning as CheckWarning
from django.core.checks import register
from django.db.models.signals import post_migrate


class AccountsConfig(AppConfig):
    name = "accounts"
    verbose_name = "Customers"

    def ready(self) -> None:
        # They import models, which aren't loaded earlier.
        from accounts.authentication import signals  # noqa: F401 - connects its receivers
        from accounts.staff import groups

        register(check_legal_pages, deploy=True)
        post_migrate.connect(groups.create_groups, dispatch_uid="accounts.staff.groups")


def check_legal_pages(**_: object) -> list[CheckWarning]:
    """Only the operator can supply legal texts."""
    if not settings.MISSING_LEGAL_SETTINGS:
        return []
    missing = ", ".join(settings.MISSING_LEGAL_SETTINGS)
    hint = "See “Legal pages” in docs/configuration.md."
    message = f"The legal pages are missing {missing}."
    return [CheckWarning(message, hint=hint, id="accounts.W001")]
