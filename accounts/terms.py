"""Record agreement to the terms, and check that the legal pages are filled in."""

from django.conf import settings
from django.core.checks import Warning as CheckWarning
from django.db import transaction
from django.utils import timezone

from accounts import audit
from accounts.models import Account, User


@transaction.atomic
def agree_to_terms(*, user: User, account: Account | None, ip: str | None = None) -> None:
    """Record agreement to the current terms, which include the data processing agreement."""
    user.terms_version = settings.TERMS_VERSION
    user.terms_agreed_at = timezone.now()
    user.save(update_fields=["terms_version", "terms_agreed_at"])
    audit.record(account, user, "user.terms_agreed", f"version of {user.terms_version}", ip)


def check_legal_pages(**_: object) -> list[CheckWarning]:
    """Warn in `manage.py check --deploy` about texts that only the operator can supply."""
    if not settings.MISSING_LEGAL_SETTINGS:
        return []
    missing = ", ".join(settings.MISSING_LEGAL_SETTINGS)
    hint = "See “Legal pages” in docs/configuration.md."
    message = f"The legal pages are missing {missing}."
    return [CheckWarning(message, hint=hint, id="accounts.W001")]
