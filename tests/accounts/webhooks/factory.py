"""Endpoints and events, also for the databases of running processes."""

from accounts.events import record_event
from accounts.events.declared import WEBHOOK_TEST
from accounts.models import Account, WebhookEndpoint
from accounts.webhooks.keys import set_new_keys


def make_endpoint(account: Account, url: str, **fields: object) -> WebhookEndpoint:
    endpoint = WebhookEndpoint(account=account, url=url, **fields)
    set_new_keys(endpoint)
    endpoint.save()
    return endpoint


def record_events(account: Account, count: int, endpoint: WebhookEndpoint | None = None) -> None:
    for _ in range(count):
        record_event(account, WEBHOOK_TEST, {}, endpoint=endpoint)
