"""What the front page of an account tells at a glance."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from accounts.models import Account
from apikeys.models import ApiKey
from credits.models import UseDay, UseHour
from validation.figures import Figures, Refused, altogether, by_piece, refusals
from validation.log_search import latest
from validation.models import LogEntry
from validation.spans import last_days

WEEK, MONTH = 7, 30
LATEST = 8


@dataclass(frozen=True)
class Overview:
    # The last 30 days, today the last of them.
    days: list[Figures]
    # Of the last 7.
    refused: list[Refused]
    latest: list[LogEntry]

    @property
    def today(self) -> Figures:
        return self.days[-1]

    @property
    def week(self) -> Figures:
        return altogether(self.days[-WEEK:])

    @property
    def week_before(self) -> Figures:
        return altogether(self.days[-2 * WEEK : -WEEK])

    @property
    def month(self) -> Figures:
        return altogether(self.days)

    @property
    def change(self) -> int | None:
        """Of the week to the one before, in parts of a hundred."""
        before = self.week_before.requests
        return round(100 * (self.week.requests - before) / before) if before else None


def has_begun(account: Account) -> bool:
    """Whether a request ever came. The sandbox is in no book; a key knows that it was used."""
    return (
        account.api_keys.filter(last_used_at__isnull=False).exists()
        or UseHour.objects.filter(account=account).exists()
        or UseDay.objects.filter(account=account).exists()
    )


def overview_of(account: Account, now: datetime) -> Overview:
    week = last_days(now, WEEK)
    return Overview(
        by_piece(account, last_days(now, MONTH)), refusals(account, week), latest(account, LATEST)
    )


def arrival_of(key: ApiKey) -> LogEntry | None:
    """The latest request with this key; of the last day, which is enough to see it come."""
    since = datetime.now(tz=key.created_at.tzinfo) - timedelta(days=1)
    return LogEntry.objects.filter(key=key, at__gte=since).order_by("-at").first()
