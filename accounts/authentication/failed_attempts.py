"""Failed attempts have no actor, as nothing proves who made them, and are limited per hour."""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from accounts.audit.models import UNKNOWN_ACTOR
from accounts.audit.recording import audited_accounts, record, record_for_user
from accounts.models import AuditEntry, User

MAX_ENTRIES_PER_HOUR = 10
LAST_ENTRY_SUFFIX = "; further attempts this hour are not recorded"


def record_wrong_password(*, email: str) -> None:
    """Record the attempt, unless the address is unknown or was never confirmed."""
    user = User.objects.filter(email=email.lower()).first()
    if user is not None and not User.objects.never_confirmed().filter(pk=user.pk).exists():
        _record_attempt(user, "user.sign_in_failed", user.email)


def record_wrong_code(*, user: User, kind: str) -> None:
    _record_attempt(user, "user.second_factor_failed", f"{user.email}: {kind}")


def record_reset_request(*, user: User) -> None:
    _record_attempt(user, "user.password_reset_asked", user.email)


@transaction.atomic
def save_password(*, user: User, action: str) -> None:
    """Hashing must not hold a transaction open."""
    user.password_changed_at = timezone.now()
    user.save()
    record_for_user(user, user, action)


@transaction.atomic
def _record_attempt(user: User, action: str, target: str) -> None:
    since = timezone.now() - timedelta(hours=1)
    recent = AuditEntry.objects.filter(at__gt=since, action=action, target__startswith=target)
    for account in audited_accounts(user):
        count = recent.filter(account=account).count()
        if count < MAX_ENTRIES_PER_HOUR:
            is_last = count == MAX_ENTRIES_PER_HOUR - 1
            text = target + LAST_ENTRY_SUFFIX if is_last else target
            record(account, None, action, text, anonymous_name=UNKNOWN_ACTOR)
