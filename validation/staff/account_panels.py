"""Read-only panels with one account's usage and requests, for staff."""

from collections import defaultdict
from collections.abc import Hashable, Iterable
from datetime import date, timedelta
from typing import TypeVar

from django.utils import timezone

from accounts.models import Account
from accounts.staff.panels import (
    Cell,
    Link,
    Panel,
    account_admin_list_url,
    link_cell,
    require_staff_permissions,
)
from apikeys.models import ApiKey
from credits.models import UseDay
from credits.wallet.totals import UsageTotal, usage_by_day, usage_by_key
from validation.engine.verdicts.reasons import Verdict
from validation.models import LogEntry

Group = TypeVar("Group", bound=Hashable)

DAYS = 30
NEWEST = 20
_COUNTS = ("requests", "credits", *(verdict.value for verdict in Verdict))
_HEADS = tuple(name.capitalize() for name in _COUNTS)
_LAST_DAYS = f"Last {DAYS} days (UTC), without sandbox requests and replayed responses."


@require_staff_permissions("credits.view_useday", "credits.view_usehour")
def usage_by_day_panel(account: Account) -> Panel:
    """List only days with usage, which keeps the page of a quiet account short."""
    groups = _sum_by_group(usage_by_day(account, *_date_range()))
    return Panel(
        "Usage by day",
        f"No usage in the last {DAYS} days.",
        columns=("Day", *_HEADS),
        rows=[[Cell(day), *_count_cells(groups[day])] for day in sorted(groups, reverse=True)],
        note=_LAST_DAYS,
        more=Link("All days", account_admin_list_url(UseDay, account)),
    )


@require_staff_permissions("credits.view_useday", "credits.view_usehour", "apikeys.view_apikey")
def usage_by_key_panel(account: Account) -> Panel:
    groups = _sum_by_group(usage_by_key(account, *_date_range()))
    keys = ApiKey.objects.in_bulk([key for key in groups if key is not None])
    most_used_first = sorted(groups, key=lambda key: -groups[key]["requests"])
    return Panel(
        "Usage by API key",
        f"No usage in the last {DAYS} days.",
        columns=("Key", *_HEADS),
        rows=[[_key_cell(keys.get(key)), *_count_cells(groups[key])] for key in most_used_first],
        note=_LAST_DAYS,
        more=Link("All API keys", account_admin_list_url(ApiKey, account)),
    )


def _date_range() -> tuple[date, date]:
    today = timezone.now().date()
    return today - timedelta(days=DAYS - 1), today


def _sum_by_group(used: Iterable[UsageTotal[Group]]) -> dict[Group, dict[str, int]]:
    groups: dict[Group, dict[str, int]] = defaultdict(lambda: dict.fromkeys(_COUNTS, 0))
    for row in used:
        counts = groups[row.of]
        counts["requests"] += row.calls
        counts["credits"] += row.credits
        counts[row.verdict] += row.calls
    return groups


def _count_cells(counts: dict[str, int]) -> list[Cell]:
    return [Cell(counts[name]) for name in _COUNTS]


def _key_cell(key: ApiKey | None) -> Cell:
    return link_cell(key) if key else Cell("Playground")


@require_staff_permissions("validation.view_logentry")
def requests_panel(account: Account) -> Panel:
    newest = LogEntry.objects.retained_for(account).order_by("-at").select_related("key")
    return Panel(
        "Latest requests",
        "The request log has no requests of this account.",
        columns=("Time", "Request", "Key", "Status", "Outcome", "Address", "Cost", "Duration (ms)"),
        rows=[_request_cells(entry) for entry in newest[:NEWEST]],
        note=f"The latest {NEWEST} in the request log, which doesn't contain 429s.",
    )


def _request_cells(entry: LogEntry) -> list[Cell]:
    outcome = entry.refusal or ", ".join(filter(None, (entry.verdict, entry.reason)))
    return [
        Cell(entry.at),
        link_cell(entry, entry.request_id),
        link_cell(entry.key, entry.key.name) if entry.key else Cell("Playground"),
        Cell(str(entry.status)),
        Cell(outcome or None),
        Cell(entry.address or None),
        Cell(entry.cost),
        Cell(entry.duration_ms),
    ]
