from collections import defaultdict

from django.db import transaction
from django.db.models import Max

from accounts.models import Delivery, Event, WebhookEndpoint
from accounts.models.webhooks import DeliveryState
from runtime.jobs.leases import Lease

BATCH_SIZE = 500
LOCK_NAME = "events"


def number_events() -> int:
    """Show committed events to readers, and create their deliveries.

    Handle at most BATCH_SIZE events, and return how many.
    """
    if not Event.objects.unnumbered().exists():
        return 0
    Lease.objects.get_or_create(name=LOCK_NAME)
    with transaction.atomic():
        # Only one process assigns numbers, so they become visible in their order.
        Lease.objects.select_for_update(no_key=True).get(name=LOCK_NAME)
        unnumbered = Event.objects.unnumbered().select_related("account").defer("body")
        found = list(unnumbered[:BATCH_SIZE])
        events = [event for event in found if event.account.is_open]
        last = Event.objects.aggregate(number=Max("number"))["number"] or 0
        for number, event in enumerate(events, last + 1):
            event.number = number
        Event.objects.bulk_update(events, ["number"])
        _create_deliveries(events)
        if len(events) < len(found):
            Event.objects.unnumbered().exclude(account__closed_at=None).delete()
    return len(found)


def _create_deliveries(events: list[Event]) -> None:
    by_account: dict[int, list[WebhookEndpoint]] = defaultdict(list)
    endpoints = WebhookEndpoint.objects.filter(account__in={event.account_id for event in events})
    # None is changed or deleted before the commit.
    for endpoint in endpoints.order_by("pk").select_for_update(no_key=True):
        by_account[endpoint.account_id].append(endpoint)
    # A disabled endpoint can catch up: a replay includes failed deliveries.
    failed = {"state": DeliveryState.FAILED, "next_attempt_at": None}
    Delivery.objects.bulk_create(
        Delivery(event=event, endpoint=endpoint, **({} if endpoint.is_enabled else failed))
        for event in events
        for endpoint in by_account[event.account_id]
        if endpoint.wants(event)
    )
