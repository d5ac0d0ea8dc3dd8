"""Record failed sign-ins, password reset requests and new passwords in the audit log.

Nothing proves who made a failed attempt, so its entry has no actor. Entries per hour are limited: a
stranger who tries a thousand passwords must not flood an account's audit log.
"""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from accounts.audit.models import UNKNOWN_ACTOR
from accounts.audit.recording import audited_accounts, record, record_for_user
from accounts.models import Account, AuditEntry, User

MAX_ENTRIES_PER_HOUR = 10
LAST_ENTRY_SUFFIX = "; further attempts this hour are not recorded"


def record_wrong_password(*, email: str, ip: str | None) -> None:
    """Record a wrong password, unless the address is unknown or was never confirmed."""
    user = User.objects.filter(email=email.lower()).first()
    if user is not None and not User.objects.never_confirmed().filter(pk=user.pk).exists():
        _record_attempt(user, "user.sign_in_failed", user.email, ip)


def record_wrong_code(*, user: User, kind: str, ip: str | None) -> None:
    """Record a wrong code or passkey, at sign-in or at reauthentication."""
    _record_attempt(user, "user.second_factor_failed", f"{user.email}: {kind}", ip)


def record_reset_request(*, user: User, ip: str | None) -> None:
    _record_attempt(user, "user.password_reset_asked", user.email, ip)


@transaction.atomic
def save_password(*, user: User, action: str, ip: str | None) -> None:
    """Save a new password and its audit entry together.

    The caller has hashed the password: hashing is slow and must not hold a transaction open.
    """
    user.password_changed_at = timezone.now()
    user.save()
    record_for_user(user, user, action, "", ip)


@transaction.atomic
def _record_attempt(user: User, action: str, target: str, ip: str | None) -> None:
    for account in audited_accounts(user):
        count = _count_recent_entries(account, action, target)
        if count < MAX_ENTRIES_PER_HOUR:
            is_last = count == MAX_ENTRIES_PER_HOUR - 1
            text = target + LAST_ENTRY_SUFFIX if is_last else target
            record(account, None, action, text, ip, anonymous_name=UNKNOWN_ACTOR)


def _count_recent_entries(account: Account | None, action: str, target: str) -> int:
    since = timezone.now() - timedelta(hours=1)
    entries = AuditEntry.objects.filter(account=account, at__gt=since)
    return entries.filter(action=action, target__startswith=target).count()
