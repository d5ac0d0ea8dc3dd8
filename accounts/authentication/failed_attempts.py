"""What the audit log keeps of the ways in, beside who came in: attempts that failed, links to a new
password, and new passwords.

Who attempts is not known, so it is told to the account as somebody's doing. It is bounded: whoever
tries a thousand passwords must not fill another's log.
"""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from accounts.audit.models import SOMEBODY
from accounts.audit.recording import accounts_of, record, record_for_user
from accounts.models import Account, AuditEntry, User

MOST_AN_HOUR = 10
LAST_ONE = "; further ones are not noted within the hour"


def record_wrong_password(*, email: str, ip: str | None) -> None:
    """Where it is the address of nobody, or of who never confirmed it, there is nobody to tell."""
    user = User.objects.filter(email=email.lower()).first()
    if user is not None and not User.objects.never_confirmed().filter(pk=user.pk).exists():
        _note(user, "user.sign_in_failed", user.email, ip)


def record_wrong_code(*, user: User, kind: str, ip: str | None) -> None:
    """The password, or a session, was right."""
    _note(user, "user.second_factor_failed", f"{user.email}: {kind}", ip)


def record_reset_request(*, user: User, ip: str | None) -> None:
    _note(user, "user.password_reset_asked", user.email, ip)


@transaction.atomic
def save_password(*, user: User, action: str, ip: str | None) -> None:
    """It was hashed before, which is slow: no transaction waits for that."""
    user.save()
    record_for_user(user, user, action, "", ip)


@transaction.atomic
def _note(user: User, action: str, target: str, ip: str | None) -> None:
    for account in accounts_of(user):
        noted = _noted_lately(account, action, target)
        if noted < MOST_AN_HOUR:
            words = target + LAST_ONE if noted == MOST_AN_HOUR - 1 else target
            record(account, None, action, words, ip, unknown=SOMEBODY)


def _noted_lately(account: Account | None, action: str, target: str) -> int:
    since = timezone.now() - timedelta(hours=1)
    entries = AuditEntry.objects.filter(account=account, at__gt=since)
    return entries.filter(action=action, target__startswith=target).count()
