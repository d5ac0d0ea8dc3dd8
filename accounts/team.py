"""Who belongs to an account: invite, accept, change the role, remove.

Each function takes the account's lock first and judges what it finds then: who was promoted,
removed or closed out a moment ago counts as such, whatever the page showed.
"""

import secrets
from datetime import timedelta

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone

from accounts import audit, emails
from accounts.models import Account, AuditEntry, Invitation, Membership, User
from accounts.roles import Role, roles_given_by

INVITED = "member.invited"
MOST_WAITING = 20
MOST_A_DAY = 50


class TeamError(Exception):
    """Something the team's rules do not allow; the text is for the person who tried."""


@transaction.atomic
def invite_member(
    *, account: Account, email: str, role: Role, actor: User, ip: str | None = None
) -> Invitation:
    """Invite an address. A new link replaces an earlier one, unless its email was dropped."""
    email = email.lower()
    _lock(account)
    _refuse_beyond_role(account, actor, role)
    if account.memberships.filter(user__email=email).exists():
        raise TeamError(f"{email} is already in this account.")
    _refuse_too_many(account, actor, email)
    token = secrets.token_urlsafe(32)
    digest = Invitation.digest(token)
    terms = {
        "role": role,
        "invited_by": actor,
        "created_at": timezone.now(),
        "expires_at": timezone.now() + timedelta(days=settings.INVITATION_DAYS),
    }
    invitation, _ = Invitation.objects.update_or_create(
        account=account,
        email=email,
        accepted_at=None,
        defaults=terms,
        create_defaults={**terms, "token": digest},
    )
    if emails.queue_invitation(invitation=invitation, token=token):
        invitation.token = digest
        invitation.save(update_fields=["token"])
    audit.record(account, actor, INVITED, f"{email} as {role}", ip)
    return invitation


@transaction.atomic
def accept_invitation(*, invitation: Invitation, user: User, ip: str | None = None) -> Membership:
    """The user's address is confirmed: nobody is signed in without that."""
    _lock(invitation.account)
    accepted = Invitation.objects.waiting().filter(pk=invitation.pk, email=user.email).first()
    if accepted is None or not accepted.is_backed():
        raise TeamError("This invitation is no longer valid. Ask for a new one.")
    accepted.accepted_at = timezone.now()
    accepted.save(update_fields=["accepted_at"])
    membership, _ = Membership.objects.get_or_create(
        account=invitation.account, user=user, defaults={"role": accepted.role}
    )
    audit.record(invitation.account, user, "member.joined", f"as {membership.role}", ip)
    return membership


@transaction.atomic
def withdraw_invitation(*, invitation: Invitation, actor: User, ip: str | None = None) -> None:
    _lock(invitation.account)
    _refuse_beyond_role(invitation.account, actor, Role(invitation.role))
    audit.record(invitation.account, actor, "invitation.withdrawn", invitation.email, ip)
    invitation.delete()


@transaction.atomic
def change_role(*, membership: Membership, role: Role, actor: User, ip: str | None = None) -> None:
    _lock(membership.account)
    membership = _as_it_is_now(membership)
    before = Role(membership.role)
    _refuse_beyond_role(membership.account, actor, before, role)
    if before == Role.OWNER and role != Role.OWNER:
        _keep_an_owner(membership)
    membership.role = role
    membership.save(update_fields=["role"])
    target = f"{membership.user.email}: {before} → {role}"
    audit.record(membership.account, actor, "member.role_changed", target, ip)
    _withdraw_unbacked(membership, actor, ip)


@transaction.atomic
def remove_member(*, membership: Membership, actor: User, ip: str | None = None) -> None:
    """Everyone may remove themselves, but for the last owner."""
    _lock(membership.account)
    membership = _as_it_is_now(membership)
    user = membership.user
    if user != actor:
        _refuse_beyond_role(membership.account, actor, Role(membership.role))
    if membership.role == Role.OWNER:
        _keep_an_owner(membership)
    action = "member.left" if user == actor else "member.removed"
    audit.record(membership.account, actor, action, user.email, ip)
    membership.delete()
    _withdraw_unbacked(membership, actor, ip)
    if user != actor:
        emails.queue_member_removed(account=membership.account, to=user.email)


def _withdraw_unbacked(inviter: Membership, actor: User, ip: str | None) -> None:
    """Withdraw the pending invitations whose role this member may no longer give."""
    for invitation in inviter.account.invitations.waiting().filter(invited_by=inviter.user):
        if not invitation.is_backed():
            audit.record(inviter.account, actor, "invitation.withdrawn", invitation.email, ip)
            invitation.delete()


def _lock(account: Account) -> None:
    """Two changes at once could each see the other's owner and remove both: one waits here."""
    if not Account.objects.lock_open(account):
        raise TeamError("This account is closed.")


def _as_it_is_now(membership: Membership) -> Membership:
    members = Membership.objects.select_related("user", "account")
    found = members.filter(pk=membership.pk).first()
    if found is None:
        raise TeamError(f"{membership.user.display_name()} is no longer in this account.")
    return found


def _refuse_beyond_role(account: Account, actor: User, *roles: Role) -> None:
    mine = account.memberships.filter(user=actor).first()
    given = roles_given_by(Role(mine.role)) if mine else []
    if not set(roles) <= set(given):
        raise PermissionDenied("Your role cannot do this to this member. Ask an owner.")


def _refuse_too_many(account: Account, actor: User, email: str) -> None:
    """Nobody should send mails to strangers through us: not by one account, not by several."""
    if account.invitations.waiting().exclude(email=email).count() >= MOST_WAITING:
        raise TeamError(
            f"{MOST_WAITING} invitations are waiting, which is the most an account may have. "
            "Withdraw one first."
        )
    yesterday = timezone.now() - timedelta(days=1)
    sent = AuditEntry.objects.filter(actor=actor, action=INVITED, at__gte=yesterday)
    if sent.count() >= MOST_A_DAY:
        raise TeamError(f"You sent {MOST_A_DAY} invitations in a day. Try again tomorrow.")


def _keep_an_owner(membership: Membership) -> None:
    owners = membership.account.memberships.filter(role=Role.OWNER)
    if not owners.exclude(pk=membership.pk).exists():
        raise TeamError(
            "An account needs an owner, and this is its only one. Make somebody else owner first."
        )
