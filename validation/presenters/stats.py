"""Key numbers above the charts. Pure."""

from dataclasses import dataclass

from django.template.defaultfilters import pluralize

from credits.models import Wallet
from credits.money import format_credits
from credits.presenters.balance import format_signed, short_forecast
from validation.reports.overview import Overview
from validation.reports.usage_stats import UsageStats

# Larger numbers get a smaller font.
MAX_WIDE_NUMBER = 999_999_999


@dataclass(frozen=True)
class Stat:
    label: str
    value: int | str
    unit: str = ""
    note: str = ""

    @property
    def text(self) -> str:
        return f"{self.value:,}" if isinstance(self.value, int) else self.value

    @property
    def is_long(self) -> bool:
        return isinstance(self.value, int) and self.value > MAX_WIDE_NUMBER


def overview_stats(overview: Overview, wallet: Wallet) -> list[Stat]:
    unit = f"credit{pluralize(wallet.balance)}"
    lasts = short_forecast(wallet.balance, wallet.days_left, wallet.held)
    week, month = overview.week, overview.month
    return [
        Stat("Balance", wallet.balance, unit, lasts),
        _usage_stat("Requests, today", overview.today),
        Stat("Requests, last 7 days", week.requests, note=_week_note(week, overview.change)),
        _usage_stat("Requests, last 30 days", month),
    ]


def usage_page_stats(total: UsageStats, period: str) -> list[Stat]:
    when = period[:1].lower() + period[1:]
    counts = [
        Stat(f"Requests, {when}", total.requests),
        Stat(f"Credits used, {when}", total.credits),
    ]
    if not total.requests:
        return counts
    return [
        *counts,
        Stat("Median validation time (p50)", total.p50),
        Stat("95th percentile (p95)", total.p95),
    ]


def _usage_stat(label: str, stats: UsageStats) -> Stat:
    return Stat(label, stats.requests, note=f"{format_credits(stats.credits)} used")


def _week_note(week: UsageStats, change: int | None) -> str:
    if change is None:
        return f"{format_credits(week.credits)} used"
    return f"{format_signed(change)}% vs previous 7 days"
