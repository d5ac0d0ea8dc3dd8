"""Each function locks the account, then reads roles again: they may have changed since the page."""

import secrets
from datetime import timedelta

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone

from accounts import audit, emails
from accounts.events import EventType, record_event
from accounts.events.declared import MEMBER_JOINED, MEMBER_REMOVED
from accounts.models import Account, AuditEntry, Invitation, Membership, User
from accounts.roles import Role, roles_assignable_by
from runtime.http.refusals import Refused

INVITED = "member.invited"
MAX_PENDING_INVITATIONS = 20
MAX_INVITATIONS_PER_DAY = 50


@transaction.atomic
def invite_member(*, account: Account, email: str, role: Role, actor: User) -> Invitation:
    """The new link replaces an earlier one, unless its email was dropped."""
    email = email.lower()
    _lock(account)
    _require_assignable(account, actor, role)
    if account.memberships.filter(user__email=email).exists():
        raise Refused(f"{email} is already a member of this account.")
    _check_invitation_limits(account, actor, email)
    token = secrets.token_urlsafe(32)
    digest = Invitation.digest(token)
    values = {
        "role": role,
        "invited_by": actor,
        "created_at": timezone.now(),
        "expires_at": timezone.now() + timedelta(days=settings.INVITATION_DAYS),
    }
    invitation, _ = Invitation.objects.update_or_create(
        account=account,
        email=email,
        accepted_at=None,
        defaults=values,
        create_defaults={**values, "token": digest},
    )
    if emails.queue_invitation(invitation=invitation, token=token):
        invitation.token = digest
        invitation.save(update_fields=["token"])
    audit.record(account, actor, INVITED, f"{email} as {role}")
    return invitation


@transaction.atomic
def accept_invitation(*, invitation: Invitation, user: User) -> Membership:
    """Add the user, who confirmed the address to sign in."""
    _lock(invitation.account)
    pending = Invitation.objects.pending().filter(pk=invitation.pk, email=user.email).first()
    if pending is None or not pending.has_authorized_inviter():
        raise Refused("This invitation is no longer valid. Ask for a new one.")
    pending.accepted_at = timezone.now()
    pending.save(update_fields=["accepted_at"])
    membership, _ = Membership.objects.get_or_create(
        account=invitation.account, user=user, defaults={"role": pending.role}
    )
    audit.record(invitation.account, user, "member.joined", f"as {membership.role}")
    _record_member(membership, MEMBER_JOINED)
    return membership


@transaction.atomic
def withdraw_invitation(*, invitation: Invitation, actor: User) -> None:
    _lock(invitation.account)
    _require_assignable(invitation.account, actor, Role(invitation.role))
    audit.record(invitation.account, actor, "invitation.withdrawn", invitation.email)
    invitation.delete()


@transaction.atomic
def change_role(*, membership: Membership, role: Role, actor: User) -> None:
    _lock(membership.account)
    membership = _reload(membership)
    before = Role(membership.role)
    _require_assignable(membership.account, actor, before, role)
    if before == Role.OWNER and role != Role.OWNER:
        _require_other_owner(membership)
    membership.role = role
    membership.save(update_fields=["role"])
    target = f"{membership.user.email}: {before} → {role}"
    audit.record(membership.account, actor, "member.role_changed", target)
    _withdraw_unauthorized(membership, actor)


@transaction.atomic
def remove_member(*, membership: Membership, actor: User) -> None:
    """Members may remove themselves, except the last owner."""
    _lock(membership.account)
    membership = _reload(membership)
    user = membership.user
    if user != actor:
        _require_assignable(membership.account, actor, Role(membership.role))
    if membership.role == Role.OWNER:
        _require_other_owner(membership)
    action = "member.left" if user == actor else "member.removed"
    audit.record(membership.account, actor, action, user.email)
    _record_member(membership, MEMBER_REMOVED)
    membership.delete()
    _withdraw_unauthorized(membership, actor)
    if user != actor:
        emails.queue_member_removed(account=membership.account, to=user.email)


def _record_member(membership: Membership, event_type: EventType) -> None:
    data = {"id": membership.public_id, "role": membership.role}
    record_event(membership.account, event_type, data)


def _withdraw_unauthorized(inviter: Membership, actor: User) -> None:
    """Withdraw invitations whose role this member may no longer assign."""
    for invitation in inviter.account.invitations.pending().filter(invited_by=inviter.user):
        if not invitation.has_authorized_inviter():
            audit.record(inviter.account, actor, "invitation.withdrawn", invitation.email)
            invitation.delete()


def _lock(account: Account) -> None:
    """Lock the account, or two requests could each remove the other's owner."""
    if not Account.objects.lock_if_open(account):
        raise Refused("This account is closed.")


def _reload(membership: Membership) -> Membership:
    members = Membership.objects.select_related("user", "account")
    current = members.filter(pk=membership.pk).first()
    if current is None:
        raise Refused(f"{membership.user.display_name()} is no longer a member of this account.")
    return current


def _require_assignable(account: Account, actor: User, *roles: Role) -> None:
    own = account.memberships.filter(user=actor).first()
    assignable = roles_assignable_by(Role(own.role)) if own else []
    if not set(roles) <= set(assignable):
        raise PermissionDenied("Your role doesn't allow this change. Ask an owner.")


def _check_invitation_limits(account: Account, actor: User, email: str) -> None:
    if account.invitations.pending().exclude(email=email).count() >= MAX_PENDING_INVITATIONS:
        raise Refused(
            f"This account already has {MAX_PENDING_INVITATIONS} pending invitations, the maximum. "
            "Withdraw one first."
        )
    yesterday = timezone.now() - timedelta(days=1)
    sent = AuditEntry.objects.filter(actor=actor, action=INVITED, at__gte=yesterday)
    if sent.count() >= MAX_INVITATIONS_PER_DAY:
        raise Refused(
            f"You've sent {MAX_INVITATIONS_PER_DAY} invitations in 24 hours, the maximum. "
            "Try again tomorrow."
        )


def _require_other_owner(membership: Membership) -> None:
    owners = membership.account.memberships.filter(role=Role.OWNER)
    if not owners.exclude(pk=membership.pk).exists():
        raise Refused("An account needs an owner. Make another member an owner first.")
