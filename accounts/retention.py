"""What is deleted, and when. Each job of the day is safe to run any number of times."""

from datetime import timedelta

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import ProtectedError
from django.utils import timezone

from accounts.audit.models import ERASED, SOMEBODY
from accounts.models import Account, AuditEntry, Invitation, User
from runtime import hooks
from runtime.models import Mail


def erase_closed_accounts() -> None:
    for account in Account.objects.due_for_erasure():
        erase_account(account=account)


@transaction.atomic
def erase_account(*, account: Account) -> None:
    """Personal data goes; the account's row stays, for the books that refer to it."""
    due = Account.objects.due_for_erasure().select_for_update().filter(pk=account.pk).first()
    if due is None:
        # It was reopened, or erased by another worker, since the list was made.
        return
    hooks.call("ON_ACCOUNT_ERASED", account=due)
    elsewhere = Account.objects.exclude(pk=due.pk)
    members = User.objects.filter(memberships__account=due, is_staff=False)
    for user in members.exclude(memberships__account__in=elsewhere):
        _erase_user(user)
    due.memberships.all().delete()
    due.invitations.all().delete()
    due.name = "Closed account"
    due.erased_at = timezone.now()
    due.save(update_fields=["name", "erased_at"])
    # Last: the database keeps the log of an account that is not erased.
    due.audit_entries.all().delete()


def _erase_user(user: User) -> None:
    """Also where the person left a trace outside the account."""
    Mail.objects.filter(to=user.email).delete()
    Invitation.objects.filter(email=user.email).delete()
    AuditEntry.objects.filter(actor=user).update(actor_name=ERASED, ip=None)
    named = AuditEntry.objects.filter(target__contains=user.email)
    named.filter(actor_name=SOMEBODY).update(actor_name=ERASED, ip=None)
    named.update(target=ERASED)
    user.delete()


def delete_unconfirmed_users() -> None:
    """A sign-up whose address was never confirmed frees the address again."""
    before = timezone.now() - timedelta(days=settings.UNCONFIRMED_SIGN_UP_DAYS)
    for user in User.objects.never_confirmed().filter(date_joined__lt=before):
        forget_unconfirmed(email=user.email)


@transaction.atomic
def forget_unconfirmed(*, email: str, but: User | None = None) -> bool:
    """Delete a sign-up that was never confirmed, with the account it opened.

    The lock is for concurrent requests with the same address: only one of them finds the user.
    """
    unconfirmed = User.objects.never_confirmed().filter(email=email)
    if but is not None:
        unconfirmed = unconfirmed.exclude(pk=but.pk)
    user = unconfirmed.select_for_update(of=("self",)).first()
    if user is None:
        return False
    for account in Account.objects.filter(memberships__user=user):
        if not account.memberships.exclude(user=user).exists():
            _delete_or_empty(account)
    user.delete()
    return True


def _delete_or_empty(account: Account) -> None:
    """What books refer to stays, as a closed account without a name."""
    account.name = "Closed account"
    account.closed_at = account.erased_at = timezone.now()
    account.save(update_fields=["name", "closed_at", "erased_at"])
    try:
        with transaction.atomic():
            account.delete()
    except ProtectedError:
        account.audit_entries.all().delete()


def delete_expired_sessions() -> None:
    """With what people see of them: network address and browser."""
    Session.objects.filter(expire_date__lt=timezone.now()).delete()
    # Younger ones may be of a session that is just being written.
    before = timezone.now() - timedelta(seconds=settings.SESSION_COOKIE_AGE)
    alive = Session.objects.values("session_key")
    UserSession.objects.filter(created_at__lt=before).exclude(session_key__in=alive).delete()


def delete_old_invitations() -> None:
    before = timezone.now() - timedelta(days=settings.INVITATION_DAYS)
    Invitation.objects.filter(expires_at__lt=before).delete()
