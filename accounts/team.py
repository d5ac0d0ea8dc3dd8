"""Who belongs to an account: invite, accept, change the role, remove."""

import secrets
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts import audit, emails
from accounts.models import Account, Invitation, Membership, User
from accounts.roles import Role

INVITED = "member.invited"
MOST_WAITING = 20
MOST_A_DAY = 50


class TeamError(Exception):
    """Something the team's rules do not allow; the text is for the person who tried."""


@transaction.atomic
def invite_member(
    *, account: Account, email: str, role: Role, actor: User, ip: str | None = None
) -> Invitation:
    """Inviting the same address again sends a new link, and the old one stops working."""
    email = email.lower()
    _lock(account)
    if account.memberships.filter(user__email=email).exists():
        raise TeamError(f"{email} is already in this account.")
    _refuse_too_many(account, email)
    token = secrets.token_urlsafe(32)
    invitation, _ = Invitation.objects.update_or_create(
        account=account,
        email=email,
        accepted_at=None,
        defaults={
            "role": role,
            "token": Invitation.digest(token),
            "invited_by": actor,
            "created_at": timezone.now(),
            "expires_at": timezone.now() + timedelta(days=settings.INVITATION_DAYS),
        },
    )
    emails.queue_invitation(invitation=invitation, token=token)
    audit.record(account, actor, INVITED, f"{email} as {role}", ip)
    return invitation


@transaction.atomic
def accept_invitation(*, invitation: Invitation, user: User, ip: str | None = None) -> Membership:
    """The caller has made sure that the invited address is the user's and confirmed."""
    accepted = Invitation.objects.waiting().filter(pk=invitation.pk, email=user.email)
    if not accepted.update(accepted_at=timezone.now()):
        raise TeamError("This invitation is no longer valid. Ask for a new one.")
    membership, _ = Membership.objects.get_or_create(
        account=invitation.account, user=user, defaults={"role": invitation.role}
    )
    audit.record(invitation.account, user, "member.joined", f"as {membership.role}", ip)
    return membership


@transaction.atomic
def withdraw_invitation(*, invitation: Invitation, actor: User, ip: str | None = None) -> None:
    audit.record(invitation.account, actor, "invitation.withdrawn", invitation.email, ip)
    invitation.delete()


@transaction.atomic
def change_role(*, membership: Membership, role: Role, actor: User, ip: str | None = None) -> None:
    _lock(membership.account)
    before = membership.role
    if before == Role.OWNER and role != Role.OWNER:
        _keep_an_owner(membership)
    membership.role = role
    membership.save(update_fields=["role"])
    target = f"{membership.user.email}: {before} → {role}"
    audit.record(membership.account, actor, "member.role_changed", target, ip)


@transaction.atomic
def remove_member(*, membership: Membership, actor: User, ip: str | None = None) -> None:
    _lock(membership.account)
    if membership.role == Role.OWNER:
        _keep_an_owner(membership)
    user = membership.user
    audit.record(membership.account, actor, "member.removed", user.email, ip)
    membership.delete()
    if user != actor:
        emails.queue_member_removed(account=membership.account, to=user.email)


def _lock(account: Account) -> None:
    """Two changes at once could each see the other's owner and remove both: one waits here."""
    Account.objects.select_for_update().get(pk=account.pk)


def _refuse_too_many(account: Account, email: str) -> None:
    """An account must not become a way to send mails to strangers."""
    if account.invitations.waiting().exclude(email=email).count() >= MOST_WAITING:
        raise TeamError(
            f"{MOST_WAITING} invitations are waiting, which is the most an account may have. "
            "Withdraw one first."
        )
    yesterday = timezone.now() - timedelta(days=1)
    if account.audit_entries.filter(action=INVITED, at__gte=yesterday).count() >= MOST_A_DAY:
        raise TeamError(f"{MOST_A_DAY} invitations were sent in a day. Try again tomorrow.")


def _keep_an_owner(membership: Membership) -> None:
    owners = membership.account.memberships.filter(role=Role.OWNER)
    if not owners.exclude(pk=membership.pk).exists():
        raise TeamError(
            "An account needs an owner, and this is its only one. Make somebody else owner first."
        )
