"""Record in the audit log what happens to lists."""

from accounts import audit
from apikeys.actor import Actor
from validation.models import AddressList


def record(address_list: AddressList, actor: Actor | None, action: str) -> None:
    """Add an entry, in the transaction of the action. `actor`: None for the service."""
    target = f"{address_list.name} ({address_list.public_id})"
    if actor is None:
        audit.record(address_list.account, None, action, target)
    else:
        actor.record(action, target)
