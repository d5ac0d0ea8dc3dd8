"""How much waits to be done: told by the background worker, for all processes.

Whoever looks at metrics, however often, asks the database nothing.
"""

import time
from datetime import UTC, datetime

from django.db.models import Count, Min
from django.utils import timezone

from runtime.jobs.daily import NAME
from runtime.jobs.leases import Lease
from runtime.mail.outbox import Mail
from runtime.metrics.registry import Gauge, MetricsSwitch

SECONDS = 15.0

waiting = Gauge("mails_waiting", "Mails that are not sent yet.", mode="mostrecent")
oldest = Gauge(
    "mails_oldest_waiting_seconds", "For how long the oldest of them has waited.", mode="mostrecent"
)
overdue = Gauge(
    "mails_overdue_seconds",
    "For how long one of them could have been sent. A mail that failed waits for its next try.",
    mode="mostrecent",
)
done = Gauge(
    "daily_work_done_for_timestamp_seconds",
    "The last day whose work is done: its beginning as a Unix time, or 0.",
    mode="mostrecent",
)
seen = Gauge(
    "background_worker_seen_timestamp_seconds",
    "When the background worker last looked after its work, as a Unix time.",
    mode="mostrecent",
)


class _Next:
    look = 0.0


def measure_if_due() -> None:
    if MetricsSwitch.is_on and time.monotonic() >= _Next.look:
        _Next.look = time.monotonic() + SECONDS
        measure()


def measure() -> None:
    # Both from the index of what waits, whatever is kept of what was sent.
    queue = Mail.objects.waiting().aggregate(
        mails=Count("pk"), since=Min("created_at"), due=Min("next_attempt_at")
    )
    now = timezone.now()
    waiting.set(queue["mails"])
    for gauge, since in ((oldest, queue["since"]), (overdue, queue["due"])):
        gauge.set(max(0.0, (now - since).total_seconds()) if since else 0)
    done_for = Lease.objects.filter(name=NAME).values_list("done_for", flat=True).first()
    done.set(datetime.combine(done_for, datetime.min.time(), UTC).timestamp() if done_for else 0)
    seen.set(now.timestamp())
