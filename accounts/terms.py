"""Record agreement to the terms, and check that the legal pages are complete."""

from typing import Any

from django.conf import settings
from django.core.checks import Warning as CheckWarning
from django.db import transaction
from django.utils import timezone

from accounts import audit
from accounts.models import Account, User


@transaction.atomic
def agree_to_terms(*, user: User, account: Account | None, ip: str | None = None) -> None:
    """To those of today, with the data processing agreement that is part of them."""
    user.terms_version = settings.TERMS_VERSION
    user.terms_agreed_at = timezone.now()
    user.save(update_fields=["terms_version", "terms_agreed_at"])
    audit.record(account, user, "user.terms_agreed", f"version of {user.terms_version}", ip)


def legal_pages_are_complete(**_: Any) -> list[CheckWarning]:
    if not settings.TO_FILL_IN:
        return []
    missing = ", ".join(settings.TO_FILL_IN)
    hint = "docs/configuration.md, “Legal pages”, says what belongs there."
    return [CheckWarning(f"The legal pages lack {missing}.", hint=hint, id="accounts.W001")]
