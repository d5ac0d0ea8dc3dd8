"""What staff see first of the work in the background: is the day's done, do mails go out."""

from datetime import UTC, datetime, time, timedelta

from django.conf import settings
from django.db.models import Count, Min, Q
from django.utils import timezone

from accounts.staff.panels import (
    MAX_ROWS,
    Cell,
    Fact,
    Link,
    Panel,
    admin_list_url,
    cell_of,
    require_staff_permissions,
)
from runtime.jobs.daily import NAME
from runtime.models import Lease, Mail

# A day's work has so long after midnight (UTC) before it is missed.
DUE_AFTER = timedelta(hours=2)
# A mail that is due leaves within seconds.
LATE_AFTER = timedelta(minutes=5)
START_WORKER = "Start the background worker: `manage.py run_worker`."


@require_staff_permissions("runtime.view_lease")
def daily_work_panel() -> Panel:
    lease = Lease.objects.filter(name=NAME).first() or Lease(name=NAME)
    return Panel(
        "Did the daily work run?",
        facts=[_last_done(lease), Fact("Now", Cell(_doing(lease)))],
        more=Link("All leases", admin_list_url(Lease)),
    )


def _last_done(lease: Lease) -> Fact:
    now = timezone.now()
    if lease.done_for is not None and lease.done_for == now.date():
        return Fact("Last done", Cell("Today", tone="good"))
    missed_since = datetime.combine(
        lease.done_for + timedelta(days=1) if lease.done_for else now.date(), time.min, UTC
    )
    words = f"{lease.done_for:%d %b %Y}" if lease.done_for else "Never"
    if now < missed_since + DUE_AFTER:
        return Fact("Last done", Cell(words))
    return Fact("Last done", Cell(f"{words}: overdue", tone="bad"), _advice())


def _advice() -> str:
    by_hand = "Or do it by hand, as often as you like: `manage.py run_daily` names what fails."
    if settings.SCHEDULER:
        return f"{START_WORKER} {by_hand}"
    return f"`SCHEDULER` is off, so a timer of yours has to run `manage.py run_daily`. {by_hand}"


def _doing(lease: Lease) -> str:
    if lease.until is None or lease.until <= timezone.now():
        return "Not running"
    # A failure gives the name up and keeps the time.
    return "Running" if lease.holder else "Failed, and tries again soon. The log says what failed."


@require_staff_permissions("runtime.view_mail")
def emails_panel() -> Panel:
    unsent = Mail.objects.filter(sent_at=None)
    waits = Q(given_up_at=None)
    counts = unsent.aggregate(
        waiting=Count("pk", filter=waits),
        given_up=Count("pk", filter=~waits),
        due=Min("next_attempt_at", filter=waits),
    )
    given_up = unsent.exclude(waits).order_by("-given_up_at").defer("text", "html")
    return Panel(
        "Do mails go out?",
        "No mail was given up.",
        columns=("Given up", "To", "About", "Why"),
        rows=[_mail(mail) for mail in given_up[:MAX_ROWS]],
        facts=[
            _worker(counts["due"]),
            Fact("Waiting", Cell(counts["waiting"], admin_list_url(Mail, "?state=waiting"))),
            _given_up(counts["given_up"]),
        ],
        more=Link("All mails that were given up", admin_list_url(Mail, "?state=given_up")),
    )


def _worker(due: datetime | None) -> Fact:
    """One that is alive tries each mail when it is due, and puts it off when that fails."""
    if due is None or due > timezone.now() - LATE_AFTER:
        return Fact("Background worker", Cell("Nothing waits too long", tone="good"))
    advice = f"{START_WORKER} If it runs, the mail server is slow: its log tells."
    return Fact("Background worker: a mail is due since", Cell(due, tone="bad"), advice)


def _given_up(count: int) -> Fact:
    if not count:
        return Fact("Given up", Cell(0))
    return Fact(
        "Given up",
        Cell(count, tone="warning"),
        "When the reason is mended, choose them in the list and send them again.",
    )


def _mail(mail: Mail) -> list[Cell]:
    return [Cell(mail.given_up_at), cell_of(mail, mail.to), Cell(mail.subject), _why(mail)]


def _why(mail: Mail) -> Cell:
    return Cell(mail.last_error or None)
