"""Store the outcome of an attempt, and decide about the next one."""

import random
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from accounts.audit import record
from accounts.emails import queue_webhook_disabled
from accounts.models import Delivery, DeliveryAttempt, DisabledReason, WebhookEndpoint
from accounts.models.webhooks import DeliveryState

# Between the ten attempts.
DELAYS = (
    *(timedelta(seconds=5), timedelta(minutes=5), timedelta(minutes=30), timedelta(hours=2)),
    *(timedelta(hours=5), timedelta(hours=10), timedelta(hours=14), timedelta(hours=20)),
    timedelta(hours=24),
)
JITTER = 0.1
GONE, STATUSES_WITH_RETRY_AFTER = 410, (429, 502, 503, 504)
MAX_RETRY_AFTER = timedelta(hours=24)
# An endpoint is disabled after so many failures, if they are all there was for so long.
MIN_FAILURES, FAILING_PERIOD = 10, timedelta(days=5)


@transaction.atomic
def store_outcome(attempt: DeliveryAttempt, *, was_failing: bool) -> None:
    """`was_failing`: whether the endpoint was. Only the process with its lease changes that."""
    delivery = attempt.delivery
    # A rollback has freed the id of an attempt that is stored again.
    attempt.pk = None
    if not attempt.error:
        if was_failing:
            endpoints = WebhookEndpoint.objects.filter(pk=delivery.endpoint_id)
            endpoints.update(failing_since=None, failures=0)
        changes = {"state": DeliveryState.DELIVERED, "next_attempt_at": None}
        if _update(delivery, tries=F("tries") + 1, **changes):
            attempt.save()
        return
    # Endpoints are locked before their deliveries.
    locked = WebhookEndpoint.objects.select_for_update(no_key=True)
    endpoint = locked.filter(pk=delivery.endpoint_id).first()
    current = Delivery.objects.select_for_update(no_key=True).filter(pk=delivery.pk).first()
    if endpoint is None or current is None:
        return
    attempt.save()
    endpoint.failures += 1
    endpoint.failing_since = endpoint.failing_since or attempt.at
    endpoint.save(update_fields=["failures", "failing_since"])
    # It may have failed by now, because the endpoint was disabled.
    if current.state == DeliveryState.WAITING:
        tries = current.tries + 1
        if tries > len(DELAYS):
            _update(current, tries=tries, state=DeliveryState.FAILED, next_attempt_at=None)
        else:
            factor = random.uniform(1 - JITTER, 1 + JITTER)  # noqa: S311 - not a secret
            scheduled = timezone.now() + DELAYS[tries - 1] * factor
            at = max(scheduled, _asked_to_wait_until(attempt) or scheduled)
            _update(current, tries=tries, next_attempt_at=at)
    if endpoint.is_enabled:
        has_failed_long = endpoint.failing_since <= timezone.now() - FAILING_PERIOD
        if attempt.status == GONE:
            _disable(endpoint, DisabledReason.GONE)
        elif has_failed_long and endpoint.failures >= MIN_FAILURES:
            _disable(endpoint, DisabledReason.FAILING)
        elif until := _asked_to_wait_until(attempt):
            waiting = endpoint.deliveries.filter(state=DeliveryState.WAITING)
            waiting.filter(next_attempt_at__lt=until).update(next_attempt_at=until)


def _update(delivery: Delivery, **changes: object) -> int:
    return Delivery.objects.filter(pk=delivery.pk).update(**changes)


def _asked_to_wait_until(attempt: DeliveryAttempt) -> datetime | None:
    """Return the end of Retry-After, which is seconds or a date (RFC 9110, 10.2.3)."""
    text, now = attempt.retry_after.strip(), timezone.now()
    if attempt.status not in STATUSES_WITH_RETRY_AFTER or not text:
        return None
    if text.isascii() and text.isdigit():
        return now + min(timedelta(seconds=int(text[:9])), MAX_RETRY_AFTER)
    try:
        until = parsedate_to_datetime(text)
        until = until if until.tzinfo else until.replace(tzinfo=UTC)
        return min(max(until, now), now + MAX_RETRY_AFTER)
    except (ValueError, OverflowError):
        return None


def _disable(endpoint: WebhookEndpoint, reason: DisabledReason) -> None:
    endpoint.disable(reason)
    record(endpoint.account, None, "webhook.disabled", str(endpoint))
    queue_webhook_disabled(endpoint=endpoint)
