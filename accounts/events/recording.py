from collections.abc import Mapping

from django.utils import timezone

from accounts.events.types import EventType
from accounts.models import Account, Event, WebhookEndpoint
from accounts.models.events import event_id
from runtime.json_text import render_json


def record_event(
    account: Account,
    event_type: EventType,
    data: Mapping[str, object],
    *,
    once: str = "",
    endpoint: WebhookEndpoint | None = None,
) -> Event | None:
    """Record a change, in its transaction. Never pass an address, a key or another secret.

    `once` identifies a fact of the account: if it is recorded already, return None. Closed accounts
    have no events. `endpoint`: send it to this one only.
    """
    if not account.is_open:
        return None
    public_id, now = event_id(), timezone.now()
    document = {
        "id": public_id,
        "type": event_type.name,
        "timestamp": now,
        "account_id": account.public_id,
        "data": data,
    }
    fields = {
        "public_id": public_id,
        "type": event_type.name,
        "body": render_json(document).decode(),
        "created_at": now,
        "endpoint": endpoint,
    }
    if not once:
        return Event.objects.create(account=account, **fields)
    event, is_new = Event.objects.get_or_create(account=account, once=once, defaults=fields)
    return event if is_new else None
