"""Grants by staff. Small ones take effect immediately, large ones need a second staff member.

The limit applies per person, over all accounts and 24 hours, so that many small grants count as one
large one. It doesn't apply to grants on the command line, which operators make.
"""

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts import audit
from accounts.models import Account, User
from credits import services
from credits.models import StaffGrant

State = StaffGrant.State
OWN_REQUEST = "You requested this grant, so another staff member has to confirm or reject it."
NOT_OWN_REQUEST = "Only the person who requested this grant can withdraw it."
REQUESTER_IS_GONE = "The person who requested this grant no longer exists. Reject it."


class GrantRefused(Exception):
    """Raised if a decision isn't allowed. The text is shown to the user."""


@transaction.atomic
def request_grant(
    *,
    account: Account,
    amount: int,
    reason: str,
    actor: User,
    form_token: str,
    ip: str | None = None,
) -> StaffGrant | None:
    """Grant the credits, or store a request if they exceed what the actor may grant alone.

    Returns None if the form was submitted before.
    """
    services.validate_amount(amount)
    # Locks the user, so that two concurrent grants can't both fit below the limit.
    User.objects.select_for_update(no_key=True).get(pk=actor.pk)
    total = StaffGrant.objects.granted_alone(actor) + amount
    state = State.PENDING if total > settings.STAFF_GRANT_LIMIT else State.WITHIN_LIMIT
    grant, is_new = StaffGrant.objects.get_or_create(
        account=account,
        form_token=form_token,
        defaults={"amount": amount, "reason": reason, "state": state, "requested_by": actor},
    )
    if not is_new:
        return None
    if grant.is_pending:
        _record(grant, actor, "grant.requested", ip)
    else:
        _post(grant, actor, ip)
    return grant


@transaction.atomic
def confirm_grant(*, grant: StaffGrant, actor: User, ip: str | None = None) -> None:
    if refusal := refusal_to_confirm(grant, actor):
        raise GrantRefused(refusal)
    _decide(grant, State.CONFIRMED, actor)
    _record(grant, actor, "grant.confirmed", ip)
    _post(grant, actor, ip)


@transaction.atomic
def reject_grant(*, grant: StaffGrant, actor: User, ip: str | None = None) -> None:
    if refusal := refusal_to_reject(grant, actor):
        raise GrantRefused(refusal)
    _decide(grant, State.REJECTED, actor)
    _record(grant, actor, "grant.rejected", ip)


@transaction.atomic
def withdraw_grant(*, grant: StaffGrant, actor: User, ip: str | None = None) -> None:
    if refusal := refusal_to_withdraw(grant, actor):
        raise GrantRefused(refusal)
    _decide(grant, State.WITHDRAWN, actor)
    _record(grant, actor, "grant.withdrawn", ip)


def refusal_to_confirm(grant: StaffGrant, user: User) -> str:
    """Return why the user can't confirm the grant, or an empty string."""
    return REQUESTER_IS_GONE if grant.requested_by_id is None else refusal_to_reject(grant, user)


def refusal_to_reject(grant: StaffGrant, user: User) -> str:
    return OWN_REQUEST if grant.requested_by_id == user.pk else ""


def refusal_to_withdraw(grant: StaffGrant, user: User) -> str:
    return "" if grant.requested_by_id == user.pk else NOT_OWN_REQUEST


def _decide(grant: StaffGrant, state: State, actor: User) -> None:
    """Store the decision if the grant is still pending, so that only one of two takes effect."""
    pending = StaffGrant.objects.pending().filter(pk=grant.pk)
    if not pending.update(state=state, decided_by=actor, decided_at=timezone.now()):
        raise GrantRefused("This grant has already been decided. Nothing was changed.")
    grant.refresh_from_db()


def _post(grant: StaffGrant, actor: User, ip: str | None) -> None:
    services.grant(
        account=grant.account,
        amount=grant.amount,
        reason=grant.reason,
        actor=actor,
        form_token=grant.form_token,
        ip=ip,
    )


def _record(grant: StaffGrant, actor: User, action: str, ip: str | None) -> None:
    """Record a step without an account: customers don't see requests in their audit log."""
    target = f"{grant.account.public_id}, {grant.amount:,}: {grant.reason}"
    audit.record(None, actor, action, target, ip)
