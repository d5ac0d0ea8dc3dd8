from dataclasses import dataclass

from django.template.defaultfilters import pluralize

from credits.models import Wallet
from credits.money import format_credits
from credits.presenters.balance import format_signed, short_forecast
from validation.presenters.usage import REQUESTS
from validation.reports.overview import Overview
from validation.reports.usage_stats import UsageStats

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
    week, month, change = overview.week, overview.month, overview.change
    change_note = f"{format_signed(change)}% vs previous 7 days" if change is not None else ""
    return [
        Stat("Balance", wallet.balance, unit, lasts),
        _usage_stat("Requests, today", overview.today),
        _usage_stat("Requests, last 7 days", week, change_note),
        _usage_stat("Requests, last 30 days", month),
    ]


def usage_page_stats(
    total: UsageStats, period: str, nouns: str = REQUESTS, list_credits: int = 0
) -> list[Stat]:
    by_lists = f"{list_credits:,} by lists" if list_credits else ""
    when = period[:1].lower() + period[1:]
    counts = [
        Stat(f"{nouns.capitalize()}, {when}", total.requests),
        Stat(f"Credits used, {when}", total.credits + list_credits, note=by_lists),
    ]
    if not any(total.histogram):
        return counts
    return [
        *counts,
        Stat("Median validation time (p50)", total.p50),
        Stat("95th percentile (p95)", total.p95),
    ]


def _usage_stat(label: str, stats: UsageStats, note: str = "") -> Stat:
    return Stat(label, stats.requests, note=note or f"{format_credits(stats.credits)} used")
