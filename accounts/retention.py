"""Erase personal data, daily. Each job can run again."""

from datetime import timedelta

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import ProtectedError
from django.utils import timezone

from accounts import hooks
from accounts.audit.models import ERASED, UNKNOWN_ACTOR
from accounts.models import Account, AuditEntry, Invitation, User
from runtime.models import Mail


def erase_closed_accounts() -> None:
    for account in Account.objects.due_for_erasure():
        erase_account(account=account)


@transaction.atomic
def erase_account(*, account: Account) -> None:
    """The row stays for the ledger."""
    due = Account.objects.due_for_erasure().select_for_update().filter(pk=account.pk).first()
    if due is None:
        # Reopened or erased since the query.
        return
    for erase in hooks.on_account_erased:
        erase(account=due)
    other_accounts = Account.objects.exclude(pk=due.pk)
    members = User.objects.filter(memberships__account=due, is_staff=False)
    for user in members.exclude(memberships__account__in=other_accounts):
        _erase_user(user)
    due.memberships.all().delete()
    due.invitations.all().delete()
    due.name = "Closed account"
    due.erased_at = timezone.now()
    due.save(update_fields=["name", "erased_at"])
    # Last, as the database refuses it until `erased_at` is set.
    due.audit_entries.all().delete()


def _erase_user(user: User) -> None:
    Mail.objects.filter(to=user.email).delete()
    Invitation.objects.filter(email=user.email).delete()
    AuditEntry.objects.filter(actor=user).update(actor_name=ERASED, ip=None)
    about_user = AuditEntry.objects.filter(target__contains=user.email)
    about_user.filter(actor_name=UNKNOWN_ACTOR).update(actor_name=ERASED, ip=None)
    about_user.update(target=ERASED)
    for erase in hooks.on_user_erased:
        erase(email=user.email)
    user.delete()


def delete_unconfirmed_users() -> None:
    """Delete unconfirmed users, so that their address can sign up again."""
    before = timezone.now() - timedelta(days=settings.UNCONFIRMED_SIGN_UP_DAYS)
    for user in User.objects.never_confirmed().filter(date_joined__lt=before):
        delete_unconfirmed_sign_up(email=user.email)


@transaction.atomic
def delete_unconfirmed_sign_up(*, email: str, keep: User | None = None) -> bool:
    """Delete the unconfirmed user, except `keep`, and the account it opened.

    The row lock lets only one of several concurrent requests find the user.
    """
    unconfirmed = User.objects.never_confirmed().filter(email=email)
    if keep is not None:
        unconfirmed = unconfirmed.exclude(pk=keep.pk)
    user = unconfirmed.select_for_update(of=("self",)).first()
    if user is None:
        return False
    for account in Account.objects.filter(memberships__user=user):
        if not account.memberships.exclude(user=user).exists():
            _delete_or_anonymize(account)
    user.delete()
    return True


def _delete_or_anonymize(account: Account) -> None:
    """Delete the account, or close and rename it if the ledger refers to it."""
    account.name = "Closed account"
    account.closed_at = account.erased_at = timezone.now()
    account.save(update_fields=["name", "closed_at", "erased_at"])
    try:
        with transaction.atomic():
            account.delete()
    except ProtectedError:
        account.audit_entries.all().delete()


def delete_expired_sessions() -> None:
    Session.objects.filter(expire_date__lt=timezone.now()).delete()
    # A newer session may not be committed yet.
    before = timezone.now() - timedelta(seconds=settings.SESSION_COOKIE_AGE)
    existing = Session.objects.values("session_key")
    UserSession.objects.filter(created_at__lt=before).exclude(session_key__in=existing).delete()


def delete_old_invitations() -> None:
    before = timezone.now() - timedelta(days=settings.INVITATION_DAYS)
    Invitation.objects.filter(expires_at__lt=before).delete()
