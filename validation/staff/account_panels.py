"""What staff see of one account's use and requests, to look at alone."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import date, timedelta
from typing import Any

from django.utils import timezone

from accounts.models import Account
from accounts.staff.panels import (
    Cell,
    Link,
    Panel,
    admin_list_url_of_account,
    cell_of,
    require_staff_permissions,
)
from apikeys.models import ApiKey
from credits.models import UseDay
from credits.wallet.totals import Used, use_by_day, use_by_key
from validation.engine.reasons import Verdict
from validation.models import LogEntry

DAYS = 30
NEWEST = 20
_COUNTS = ("requests", "credits", *(verdict.value for verdict in Verdict))
_HEADS = tuple(name.capitalize() for name in _COUNTS)
_LAST_DAYS = f"The last {DAYS} days, UTC. The sandbox and repeated answers do not count."


@require_staff_permissions("credits.view_useday", "credits.view_usehour")
def usage_by_day_panel(account: Account) -> Panel:
    """Days without use are left out: a quiet account is a short page."""
    lines = _lines(use_by_day(account, *_span()))
    return Panel(
        "How much do they use?",
        f"Nothing was used in the last {DAYS} days.",
        columns=("Day", *_HEADS),
        rows=[[Cell(day), *_cells(lines[day])] for day in sorted(lines, reverse=True)],
        note=_LAST_DAYS,
        more=Link("All days", admin_list_url_of_account(UseDay, account)),
    )


@require_staff_permissions("credits.view_useday", "credits.view_usehour", "apikeys.view_apikey")
def usage_by_key_panel(account: Account) -> Panel:
    lines = _lines(use_by_key(account, *_span()))
    keys = ApiKey.objects.in_bulk([key for key in lines if key is not None])
    most_first = sorted(lines, key=lambda key: -lines[key]["requests"])
    return Panel(
        "With which keys?",
        f"Nothing was used in the last {DAYS} days.",
        columns=("Key", *_HEADS),
        rows=[[_key(keys.get(key)), *_cells(lines[key])] for key in most_first],
        note=_LAST_DAYS,
        more=Link("All their keys", admin_list_url_of_account(ApiKey, account)),
    )


def _span() -> tuple[date, date]:
    today = timezone.now().date()
    return today - timedelta(days=DAYS - 1), today


def _lines(used: Iterable[Used]) -> dict[Any, dict[str, int]]:
    lines: dict[Any, dict[str, int]] = defaultdict(lambda: dict.fromkeys(_COUNTS, 0))
    for use in used:
        line = lines[use.of]
        line["requests"] += use.calls
        line["credits"] += use.credits
        line[use.verdict] += use.calls
    return lines


def _cells(line: dict[str, int]) -> list[Cell]:
    return [Cell(line[name]) for name in _COUNTS]


def _key(key: ApiKey | None) -> Cell:
    return cell_of(key) if key else Cell("Playground")


@require_staff_permissions("validation.view_logentry")
def requests_panel(account: Account) -> Panel:
    newest = LogEntry.objects.of(account).order_by("-at").select_related("key")
    return Panel(
        "What did they ask last?",
        "The request log holds nothing of theirs.",
        columns=("When", "Request", "Key", "Status", "Outcome", "Address", "Cost", "Took, ms"),
        rows=[_request(entry) for entry in newest[:NEWEST]],
        note=f"The newest {NEWEST} of the request log, which holds no 429s.",
    )


def _request(entry: LogEntry) -> list[Cell]:
    outcome = entry.refusal or ", ".join(filter(None, (entry.verdict, entry.reason)))
    return [
        Cell(entry.at),
        cell_of(entry, entry.request_id),
        cell_of(entry.key, entry.key.name) if entry.key else Cell("Playground"),
        Cell(str(entry.status)),
        Cell(outcome or None),
        Cell(entry.address or None),
        Cell(entry.cost),
        Cell(entry.duration_ms),
    ]
