from typing import Protocol

from django.db.models import Count, Min
from django.utils import timezone

from runtime.dates import midnight, seconds_since
from runtime.hooks import Hook
from runtime.jobs import machine_metrics
from runtime.jobs.daily import LEASE_NAME
from runtime.jobs.leases import Lease
from runtime.mail.outbox import Mail
from runtime.metrics.client import LatestGauge, at_intervals

waiting = LatestGauge("emailvalidation_mails_waiting", "Emails that are not sent yet.")
oldest = LatestGauge(
    "emailvalidation_mails_oldest_waiting_seconds", "Age of the oldest unsent email."
)
overdue = LatestGauge(
    "emailvalidation_mails_overdue_seconds",
    "How long the longest overdue email is past its next attempt. A retry that isn't due doesn't "
    "count.",
)
done = LatestGauge(
    "emailvalidation_daily_work_done_for_timestamp_seconds",
    "Start of the last day whose jobs are done, as a Unix timestamp, or 0.",
)
seen = LatestGauge(
    "emailvalidation_background_worker_seen_timestamp_seconds",
    "When the background worker last took these measurements, as a Unix timestamp.",
)


class QueueMeasure(Protocol):
    def __call__(self) -> None:
        """Set the metrics of a queue, whose own processes may all be gone."""


queue_measures = Hook[QueueMeasure]("QUEUE_MEASURES")


def measure() -> None:
    machine_metrics.measure()
    for measure_queue in queue_measures:
        measure_queue()
    queue = Mail.objects.waiting().aggregate(
        count=Count("pk"), since=Min("created_at"), due=Min("next_attempt_at")
    )
    waiting.set(queue["count"])
    for gauge, since in ((oldest, queue["since"]), (overdue, queue["due"])):
        gauge.set(seconds_since(since))
    done_for = Lease.objects.filter(name=LEASE_NAME).values_list("done_for", flat=True).first()
    done.set(midnight(done_for).timestamp() if done_for else 0)
    seen.set(timezone.now().timestamp())


measure_if_due = at_intervals(measure)
