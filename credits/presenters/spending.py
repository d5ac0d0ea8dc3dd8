from collections import Counter
from dataclasses import dataclass
from datetime import date

from django.conf import settings

from accounts.models import Account
from accounts.presenters.charts import Chart, choose_labeled, draw_chart
from credits.models import OrderState
from credits.money import SYMBOLS
from credits.presenters.prices import format_price
from runtime.dates import midnight, previous_month

MONTHS = 12


@dataclass(frozen=True)
class SpendingChart:
    summary: str
    rows: list[tuple[str, str]]
    chart: Chart


def build_spending_chart(account: Account, today: date) -> SpendingChart | None:
    """Chart payments less refunds by month (UTC), or return None if there are none."""
    months = [today.replace(day=1)]
    while len(months) < MONTHS:
        months.insert(0, previous_month(months[0]))
    paid = account.orders.filter(
        state=OrderState.PAID, currency=settings.CURRENCY, paid_at__gte=midnight(months[0])
    )
    cents: Counter[date] = Counter()
    for order in paid:
        if order.paid_at:
            cents[order.paid_at.date().replace(day=1)] += order.total_cents - order.refunded_cents
    rows = [(f"{month:%b %Y}", format_price(cents[month])) for month in months]
    chart = draw_chart(
        [{"spent": cents[month] / 100} for month in months],
        [f"{label}: {amount}" for label, amount in rows],
        [""] * MONTHS,
        {i: rows[i][0] for i in choose_labeled(MONTHS)},
        prefix=SYMBOLS.get(settings.CURRENCY, ""),
    )
    summary = f"Last {MONTHS} months: {format_price(cents.total())}"
    return SpendingChart(summary, rows, chart) if cents.total() else None
