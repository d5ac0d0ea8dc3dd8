"""Retention, erasure and export of events and endpoints. Each function is a hook."""

from datetime import timedelta

import orjson
from django.db import transaction
from django.utils import timezone

from accounts.models import Account, Delivery, Event, WebhookEndpoint

EVENT_RETENTION = timedelta(days=30)
# Each may have ten deliveries with ten attempts.
DELETED_AT_A_TIME = 200


def delete_old_events() -> None:
    """Delete old events with their deliveries, unless nothing has numbered them yet."""
    old = Event.objects.filter(created_at__lt=timezone.now() - EVENT_RETENTION)
    old = old.exclude(number=None).order_by("created_at")
    while pks := list(old.values_list("pk", flat=True)[:DELETED_AT_A_TIME]):
        with transaction.atomic():
            Delivery.objects.filter(event__in=pks).lock()
            Event.objects.filter(pk__in=pks).delete()


def delete_events_and_endpoints(*, account: Account) -> None:
    Event.objects.filter(account=account).delete()
    WebhookEndpoint.objects.filter(account=account).delete()


def export_events_and_endpoints(*, account: Account) -> dict[str, object]:
    bodies = Event.objects.numbered().filter(account=account).values_list("body", flat=True)
    endpoints = WebhookEndpoint.objects.filter(account=account).values(
        *("public_id", "url", "description", "types", "created_at"),
        *("disabled_at", "disabled_reason", "failing_since"),
    )
    return {
        "events": [orjson.loads(body) for body in bodies.reverse()],
        "webhooks": list(endpoints),
    }
