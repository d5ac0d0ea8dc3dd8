from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Count, Min, Q
from django.utils import timezone
from django.utils.formats import date_format

from accounts.staff.links import admin_list_url, link_cell
from accounts.staff.panels import MAX_ROWS, Cell, Fact, Link, Panel, require_staff_permissions
from runtime.dates import midnight
from runtime.jobs.daily import LEASE_NAME
from runtime.models import Lease, Mail

# After midnight (UTC).
DAILY_JOBS_DUE_AFTER = timedelta(hours=2)
EMAIL_LATE_AFTER = timedelta(minutes=5)
START_WORKER = "Start the background worker: `manage.py run_worker`."


@require_staff_permissions("runtime.view_lease")
def daily_jobs_panel() -> Panel:
    lease = Lease.objects.filter(name=LEASE_NAME).first() or Lease(name=LEASE_NAME)
    return Panel(
        "Daily jobs",
        facts=[_last_done(lease), Fact("Status", Cell(_current_state(lease)))],
        more=Link("All leases", admin_list_url(Lease)),
    )


def _last_done(lease: Lease) -> Fact:
    now = timezone.now()
    if lease.done_for is not None and lease.done_for == now.date():
        return Fact("Last completed", Cell("Today", tone="good"))
    next_due = midnight(lease.done_for + timedelta(days=1) if lease.done_for else now.date())
    last_day = date_format(lease.done_for) if lease.done_for else "Never"
    if now < next_due + DAILY_JOBS_DUE_AFTER:
        return Fact("Last completed", Cell(last_day))
    advice = "You can also run `manage.py run_daily` at any time: it lists the jobs that fail."
    if settings.SCHEDULER:
        advice = f"{START_WORKER} {advice}"
    else:
        off = "`SCHEDULER` is off, so your own timer must run `manage.py run_daily`."
        advice = f"{off} {advice}"
    return Fact("Last completed", Cell(f"{last_day}, overdue", tone="bad"), advice)


def _current_state(lease: Lease) -> str:
    if lease.until is None or lease.until <= timezone.now():
        return "Not running"
    # After a failure, the lease has no holder until the next try.
    return "Running" if lease.holder else "Failed, will be retried soon. See the log for details."


@require_staff_permissions("runtime.view_mail")
def emails_panel() -> Panel:
    unsent = Mail.objects.filter(sent_at=None)
    is_waiting = Q(given_up_at=None)
    counts = unsent.aggregate(
        waiting=Count("pk", filter=is_waiting),
        given_up=Count("pk", filter=~is_waiting),
        due=Min("next_attempt_at", filter=is_waiting),
    )
    advice = "Fix the error, then select the emails in the list and resend them."
    given_up = unsent.exclude(is_waiting).order_by("-given_up_at").defer("text", "html")
    return Panel(
        "Emails given up",
        "No emails were given up.",
        is_work=True,
        columns=("Given up", "To", "Subject", "Error"),
        rows=[
            [
                Cell(mail.given_up_at),
                link_cell(mail, mail.to),
                Cell(mail.subject),
                Cell(mail.last_error or None),
            ]
            for mail in given_up[:MAX_ROWS]
        ],
        facts=[
            _worker_fact(counts["due"]),
            Fact("Waiting", Cell(counts["waiting"], admin_list_url(Mail, "?state=waiting"))),
            Fact(
                "Given up",
                Cell(counts["given_up"], tone="warning" if counts["given_up"] else ""),
                advice if counts["given_up"] else "",
            ),
        ],
        more=Link("All emails given up", admin_list_url(Mail, "?state=given_up")),
    )


def _worker_fact(due: datetime | None) -> Fact:
    """Report an overdue email: a running worker leaves none, as it postpones failed ones."""
    if due is None or due > timezone.now() - EMAIL_LATE_AFTER:
        return Fact("Background worker", Cell("No overdue emails", tone="good"))
    advice = f"{START_WORKER} If it's running, the mail server is slow: see the worker's log."
    return Fact("Background worker: oldest overdue email", Cell(due, tone="bad"), advice)
