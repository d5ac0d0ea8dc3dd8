"""What is deleted, and when. Each function is a job of the day, safe to run any number of times."""

from datetime import timedelta

from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import transaction
from django.utils import timezone

from accounts import seams
from accounts.models import Account, Invitation, Mail, User


def erase_closed_accounts() -> None:
    for account in Account.objects.due_for_erasure():
        erase_account(account=account)


@transaction.atomic
def erase_account(*, account: Account) -> None:
    """Personal data goes; the account's row stays, for the books that refer to it."""
    members = User.objects.filter(memberships__account=account, is_staff=False)
    seams.call("ON_ACCOUNT_ERASED", account=account)
    for user in members.exclude(memberships__account__in=Account.objects.exclude(pk=account.pk)):
        Mail.objects.filter(to=user.email).delete()
        user.delete()
    account.memberships.all().delete()
    account.invitations.all().delete()
    account.audit_entries.all().delete()
    account.name = "Closed account"
    account.erased_at = timezone.now()
    account.save(update_fields=["name", "erased_at"])


def delete_unconfirmed_users() -> None:
    """A sign-up whose address was never confirmed frees the address again."""
    before = timezone.now() - timedelta(days=settings.UNCONFIRMED_SIGN_UP_DAYS)
    never_confirmed = User.objects.filter(
        date_joined__lt=before, is_staff=False, last_login=None
    ).exclude(emailaddress__verified=True)
    for user in never_confirmed:
        with transaction.atomic():
            Account.objects.filter(memberships__user=user).delete()
            user.delete()


def delete_expired_sessions() -> None:
    Session.objects.filter(expire_date__lt=timezone.now()).delete()


def delete_old_invitations() -> None:
    before = timezone.now() - timedelta(days=settings.INVITATION_DAYS)
    Invitation.objects.filter(expires_at__lt=before).delete()


def delete_old_mails() -> None:
    before = timezone.now() - timedelta(days=settings.MAIL_RETENTION_DAYS)
    Mail.objects.filter(created_at__lt=before).exclude(sent_at=None, given_up_at=None).delete()
