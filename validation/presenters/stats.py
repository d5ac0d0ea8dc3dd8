from collections.abc import Sequence

from django.template.defaultfilters import pluralize

from accounts.presenters.stats import Stat
from credits.models import Wallet
from credits.money import format_credits
from credits.presenters.balance import format_signed, short_forecast
from validation.reports.overview import WEEK, Overview
from validation.reports.usage_stats import UsageStats, sum_stats


def overview_stats(overview: Overview, wallet: Wallet, nouns: str) -> list[Stat]:
    unit = f"credit{pluralize(wallet.balance)}"
    lasts = short_forecast(wallet.balance, wallet.days_left, wallet.held)
    change, nouns = overview.change, nouns.capitalize()
    change_note = f"{format_signed(change)}% vs previous 7 days" if change is not None else ""
    return [
        Stat("Balance", wallet.balance, unit, lasts, overview.balances),
        _usage_stat(f"{nouns}, last 24 hours", overview.hours),
        _usage_stat(f"{nouns}, last 7 days", overview.days[-WEEK:], change_note),
        _usage_stat(f"{nouns}, last 30 days", overview.days),
    ]


def usage_page_stats(stats: Sequence[UsageStats], period: str, nouns: str) -> list[Stat]:
    total = sum_stats(stats)
    when = period[:1].lower() + period[1:]
    counts = [
        Stat(f"{nouns.capitalize()}, {when}", total.requests),
        Stat(f"Credits used, {when}", total.credits),
    ]
    if not any(total.histogram):
        return counts
    return [
        *counts,
        Stat("Median validation time (p50)", total.p50),
        Stat("95th percentile (p95)", total.p95),
    ]


def _usage_stat(label: str, parts: Sequence[UsageStats], note: str = "") -> Stat:
    total, values = sum_stats(parts), [part.requests for part in parts]
    note = note or f"{format_credits(total.credits)} used"
    return Stat(label, total.requests, note=note, values=values)
