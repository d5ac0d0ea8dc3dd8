"""Deliveries, inserted without sending anything."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from accounts.events import record_event
from accounts.events.types import types_by_name
from accounts.models import Delivery, Event, WebhookEndpoint
from accounts.models.webhooks import DeliveryState

URL = "https://shop.example/webhooks"


def insert_delivery(
    endpoint: WebhookEndpoint, name: str = "list.ready", days_old: float = 0, **fields: Any
) -> Delivery:
    """Return a delivery that waits for its first attempt, or has these fields."""
    at = timezone.now() - timedelta(days=days_old)
    event = Event.objects.create(account=endpoint.account, type=name, body="{}", created_at=at)
    return endpoint.deliveries.create(event=event, **fields)


def make_delivery(
    endpoint: WebhookEndpoint,
    state: DeliveryState = DeliveryState.DELIVERED,
    name: str = "key.created",
    **attempt: Any,
) -> Delivery:
    """Return a delivery with one attempt, or none while it's waiting."""
    event_type = types_by_name()[name]
    only_for = endpoint if name == "webhook.test" else None
    event = record_event(endpoint.account, event_type, event_type.example, endpoint=only_for)
    assert event
    is_waiting = state == DeliveryState.WAITING
    delivery = endpoint.deliveries.create(
        event=event,
        state=state,
        tries=0 if is_waiting else 1,
        next_attempt_at=timezone.now() if is_waiting else None,
    )
    if not is_waiting:
        response = {"status": 200} if state == DeliveryState.DELIVERED else {"error": "timeout"}
        fields = {"duration_ms": 87, "signature": "v1,abc= v1a,def=", **response, **attempt}
        delivery.delivery_attempts.create(at=timezone.now(), **fields)
    return delivery
