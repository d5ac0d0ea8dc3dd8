from django.db.models import Min

from accounts.models import Delivery, Event
from accounts.models.webhooks import DeliveryState
from accounts.webhooks.sending import ERRORS
from runtime.dates import seconds_since
from runtime.metrics.client import Counter, LatestGauge, initialize

attempts = Counter(
    "emailvalidation_webhook_attempts",
    "Attempts to send an event to an endpoint, by outcome: delivered, or why it failed.",
    ("outcome",),
)
initialize(attempts, ("delivered", *ERRORS))
waiting = LatestGauge(
    "emailvalidation_webhook_deliveries_waiting",
    "Deliveries that are neither delivered nor failed.",
)
overdue = LatestGauge(
    "emailvalidation_webhook_deliveries_overdue_seconds",
    "How long the longest overdue delivery is past its next attempt. Endpoints that fail don't "
    "count.",
)
unnumbered = LatestGauge(
    "emailvalidation_events_unnumbered_seconds",
    "Age of the oldest event that readers don't see yet.",
)


def measure() -> None:
    waiting.set(Delivery.objects.filter(state=DeliveryState.WAITING).count())
    overdue.set(overdue_seconds())
    unseen = Event.objects.unnumbered().order_by().aggregate(at=Min("created_at"))["at"]
    unnumbered.set(seconds_since(unseen))


def overdue_seconds() -> float:
    deliveries = Delivery.objects.filter(state=DeliveryState.WAITING)
    healthy = deliveries.filter(endpoint__failing_since=None, endpoint__disabled_at=None)
    due = healthy.filter(endpoint__account__closed_at=None).aggregate(at=Min("next_attempt_at"))
    return seconds_since(due["at"])
