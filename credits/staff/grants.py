"""Above a limit per person and 24 hours, a second person has to confirm.

Operators' commands have no limit.
"""

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts import audit
from accounts.models import Account, User
from credits import services
from credits.models import GrantState, StaffGrant
from runtime.http.refusals import Refused

OWN_REQUEST = "You requested this grant, so another staff member has to confirm or reject it."
NOT_OWN_REQUEST = "Only the person who requested this grant can withdraw it."
REQUESTER_IS_GONE = "The person who requested this grant no longer exists. Reject it."


@transaction.atomic
def request_grant(
    *, account: Account, amount: int, reason: str, actor: User, form_token: str
) -> StaffGrant | None:
    """Return None if the form was submitted before."""
    services.validate_amount(amount)
    # Lock the user: two concurrent grants must not both fit below the limit.
    User.objects.select_for_update(no_key=True).get(pk=actor.pk)
    total = StaffGrant.objects.granted_alone(actor) + amount
    state = GrantState.PENDING if total > settings.STAFF_GRANT_LIMIT else GrantState.WITHIN_LIMIT
    grant, is_new = StaffGrant.objects.get_or_create(
        account=account,
        form_token=form_token,
        defaults={"amount": amount, "reason": reason, "state": state, "requested_by": actor},
    )
    if not is_new:
        return None
    if grant.is_pending:
        _record(grant, actor, "grant.requested")
    else:
        _post(grant, actor)
    return grant


@transaction.atomic
def decide(*, grant: StaffGrant, state: GrantState, actor: User) -> None:
    """Confirm, reject or withdraw a pending grant. Only one of two decisions takes effect."""
    if refusal := find_refusal(grant, state, actor):
        raise Refused(refusal)
    pending = StaffGrant.objects.pending().filter(pk=grant.pk)
    if not pending.update(state=state, decided_by=actor, decided_at=timezone.now()):
        raise Refused("This grant has already been decided. Nothing was changed.")
    grant.refresh_from_db()
    _record(grant, actor, f"grant.{state}")
    if state == GrantState.CONFIRMED:
        _post(grant, actor)


def find_refusal(grant: StaffGrant, state: GrantState, user: User) -> str:
    is_own = grant.requested_by_id == user.pk
    if state == GrantState.WITHDRAWN:
        return "" if is_own else NOT_OWN_REQUEST
    if state == GrantState.CONFIRMED and grant.requested_by_id is None:
        return REQUESTER_IS_GONE
    return OWN_REQUEST if is_own else ""


def _post(grant: StaffGrant, actor: User) -> None:
    services.grant(
        account=grant.account,
        amount=grant.amount,
        reason=grant.reason,
        actor=actor,
        form_token=grant.form_token,
    )


def _record(grant: StaffGrant, actor: User, action: str) -> None:
    """Record without an account, as customers don't see requests."""
    target = f"{grant.account.public_id}, {grant.amount:,}: {grant.reason}"
    audit.record(None, actor, action, target)
