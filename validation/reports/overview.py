"""What the front page of an account tells at a glance."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from accounts.models import Account
from apikeys.errors import REFUSALS
from apikeys.models import ApiKey, RefusalHour
from credits.models import UseDay, UseHour
from validation.models import LogEntry
from validation.reports.date_ranges import DAY, HOUR, last_days
from validation.reports.usage_stats import Refused, UsageStats, altogether, by_piece, refusals
from validation.request_log.search import latest

WEEK, MONTH = 7, 30
LONGEST_CALL = timedelta(seconds=8)
LATEST = 8


@dataclass(frozen=True)
class Overview:
    # The last 30 days, today the last of them.
    days: list[UsageStats]
    # Of the last 7.
    refused: list[Refused]
    latest: list[LogEntry]

    @property
    def today(self) -> UsageStats:
        return self.days[-1]

    @property
    def week(self) -> UsageStats:
        return altogether(self.days[-WEEK:])

    @property
    def week_before(self) -> UsageStats:
        return altogether(self.days[-2 * WEEK : -WEEK])

    @property
    def month(self) -> UsageStats:
        return altogether(self.days)

    @property
    def change(self) -> int | None:
        """Of the week to the one before, in parts of a hundred."""
        before = self.week_before.requests
        return round(100 * (self.week.requests - before) / before) if before else None


@dataclass(frozen=True)
class Arrival:
    """A request that came. What is no row of the log is known by its refusal, or by its key."""

    entry: LogEntry | None = None
    refusal: str = ""

    @property
    def status(self) -> int:
        if self.entry:
            return self.entry.status
        return REFUSALS[self.refusal].status if self.refusal else 200

    @property
    def code(self) -> str:
        return self.entry.refusal if self.entry else self.refusal


def has_begun(account: Account) -> bool:
    """Whether a request ever came. The sandbox is in no book; a key knows that it was used."""
    own = {"account": account}
    return (
        account.api_keys.filter(last_used_at__isnull=False).exists()
        or UseHour.objects.filter(**own).exists()
        or UseDay.objects.filter(**own).exists()
        or LogEntry.objects.of(account).exists()
        or RefusalHour.objects.filter(**own).exists()
    )


def arrival_of(account: Account, key: ApiKey | None, now: datetime) -> Arrival | None:
    """The latest of the day, with this key or any; nothing while none has come."""
    of_key = {"key": key} if key else {}
    entries = LogEntry.objects.of(account).filter(at__gte=now - DAY, **of_key)
    entry = entries.order_by("-at").first()
    if entry:
        return Arrival(entry)
    hours = RefusalHour.objects.filter(account=account, hour__gte=now - HOUR, **of_key)
    refused = hours.order_by("-hour", "-pk").first()
    if refused and refused.code in REFUSALS:
        return Arrival(None, refused.code)
    keys = ApiKey.objects.filter(pk=key.pk) if key else account.api_keys.all()
    # The note of its use comes first, and the row with the answer.
    return Arrival() if keys.filter(last_used_at__lt=now - LONGEST_CALL).exists() else None


def overview_of(account: Account, now: datetime) -> Overview:
    week = last_days(now, WEEK)
    return Overview(
        by_piece(account, last_days(now, MONTH)), refusals(account, week), latest(account, LATEST)
    )
