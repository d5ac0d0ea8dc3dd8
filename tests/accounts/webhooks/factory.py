"""Endpoints and events, also for the databases of running processes."""

from typing import Any

from accounts.events import EventType, record_event
from accounts.events.declared import WEBHOOK_TEST
from accounts.models import Account, Event, WebhookEndpoint
from accounts.webhooks.keys import set_new_keys

READY, COMPLETED = (EventType(f"list.{name}", "", "", {}) for name in ("ready", "completed"))


def record(
    account: Account, event_type: EventType = READY, data: Any = None, **options: Any
) -> Event:
    event = record_event(account, event_type, data or {}, **options)
    assert event is not None
    return event


def make_endpoint(account: Account, url: str, **fields: object) -> WebhookEndpoint:
    endpoint = WebhookEndpoint(account=account, url=url, **fields)
    set_new_keys(endpoint)
    endpoint.save()
    return endpoint


def record_events(account: Account, count: int, endpoint: WebhookEndpoint | None = None) -> None:
    for _ in range(count):
        record_event(account, WEBHOOK_TEST, {}, endpoint=endpoint)
