"""The chart of payments by month."""

from datetime import date

import pytest

from accounts.models import Account
from credits.models import Order, Pack
from credits.presenters.spending import build_spending_chart
from tests.credits.customers import pay, place_order
from tests.credits.time_travel import on

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

TODAY = date(2026, 11, 20)


def buy(account: Account, day: str) -> Order:
    with on(day):
        order = place_order(account, Pack.objects.get(credits=1_000))
        pay(order)
    return order


def test_months_are_sums_of_payments_less_refunds(account: Account) -> None:
    for day in ("2026-09-30", "2026-10-01", "2026-10-31"):
        buy(account, day)
    Order.objects.filter(pk=buy(account, "2026-11-02").pk).update(refunded_cents=150)
    shown = build_spending_chart(account, TODAY)
    assert shown
    assert shown.summary == "Last 12 months: $18.50"
    assert shown.rows[-3:] == [("Sep 2026", "$5.00"), ("Oct 2026", "$10.00"), ("Nov 2026", "$3.50")]
    assert (shown.rows[0][0], len(shown.rows)) == ("Dec 2025", 12)
    assert shown.chart.bars[-2].title == "Oct 2026: $10.00"
    assert shown.chart.ticks[0] == "$10"


def test_unpaid_and_older_orders_are_not_spending(account: Account) -> None:
    buy(account, "2025-11-30")
    place_order(account, Pack.objects.get(credits=1_000))
    assert build_spending_chart(account, TODAY) is None
