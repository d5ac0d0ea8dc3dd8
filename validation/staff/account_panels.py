from datetime import UTC

from django.utils import timezone

from accounts.models import Account
from accounts.staff.links import account_admin_list_url, link_cell
from accounts.staff.panels import Cell, Fact, Link, Panel, Tone, require_staff_permissions
from apikeys.models import ApiKey
from credits.models.usage import Source
from validation.models import LogEntry
from validation.presenters.charts import build_usage_chart
from validation.presenters.stats import overview_stats
from validation.presenters.usage import VALIDATIONS
from validation.reports import usage_stats
from validation.reports.date_ranges import last_days
from validation.reports.overview import build_overview
from validation.reports.usage_stats import STACK_ORDER

DAYS = 30
NEWEST = 20
_HEADS = ("Source", "Validations", "Credits", *(verdict.capitalize() for verdict in STACK_ORDER))
_TONES: dict[str, Tone] = {"deliverable": "good", "risky": "warning", "undeliverable": "bad"}
_LAST_DAYS = f"Last {DAYS} days (UTC), without sandbox requests and replayed responses."


@require_staff_permissions(
    *("credits.view_useday", "credits.view_usehour", "credits.view_wallet"),
    *("credits.view_subscription", "validation.view_logentry"),
    tab="Overview",
)
def overview_panel(account: Account) -> Panel:
    now, subscription = timezone.now(), account.subscription
    summary = build_overview(account, now, [*Source])
    chart = build_usage_chart(
        *(summary.days, summary.previous, summary.date_range, "Last 30 days"),
        zone=UTC,
        now=now,
        urls=lambda _: "",
        nouns=VALIDATIONS,
    )
    refused = sum(calls for _, _, calls in summary.refused)
    return Panel(
        "Usage",
        "" if chart.total.requests or chart.previously else "No usage in the last 60 days.",
        facts=[
            Fact("Plan", Cell(subscription.plan.name)),
            Fact("Paid until", Cell(subscription.covered_until)),
            Fact("Last request", Cell(summary.latest[0].at if summary.latest else None)),
            Fact("Refused in 7 days", Cell(refused, tone="warning" if refused else "")),
        ],
        note="In UTC, without sandbox requests and replayed responses.",
        stats=overview_stats(summary, account.wallet, VALIDATIONS),
        chart=chart,
    )


@require_staff_permissions(
    "credits.view_useday", "credits.view_usehour", "apikeys.view_apikey", tab="Overview"
)
def usage_by_key_panel(account: Account) -> Panel:
    used = usage_stats.by_key(account, last_days(timezone.now(), DAYS))
    return Panel(
        "Usage by API key",
        f"No usage in the last {DAYS} days.",
        columns=("Key", *_HEADS),
        rows=[
            [
                link_cell(stats.of) if isinstance(stats.of, ApiKey) else Cell(None),
                Cell(stats.source.label if stats.source else None),
                *map(Cell, (stats.requests, stats.credits, *stats.calls.values())),
            ]
            for stats in used
        ],
        note=_LAST_DAYS,
        more=Link("All API keys", account_admin_list_url(ApiKey, account)),
    )


@require_staff_permissions("validation.view_logentry", tab="Requests")
def requests_panel(account: Account) -> Panel:
    newest = LogEntry.objects.retained_for(account).order_by("-at").select_related("key")
    return Panel(
        "Latest requests",
        "The request log has no requests of this account.",
        columns=("Time", "Request", "Key", "Status", "Outcome", "Address", "Cost", "Duration (ms)"),
        rows=[
            [
                Cell(entry.at),
                link_cell(entry, entry.request_id),
                link_cell(entry.key, entry.key.name) if entry.key else Cell("Playground"),
                Cell(str(entry.status)),
                Cell(
                    entry.refusal or ", ".join(filter(None, (entry.verdict, entry.reason))) or None,
                    tone=_TONES.get(entry.verdict, ""),
                ),
                Cell(entry.address or None),
                Cell(entry.cost),
                Cell(entry.duration_ms),
            ]
            for entry in newest[:NEWEST]
        ],
        note=f"The latest {NEWEST} in the request log, which doesn't contain 429s.",
    )
