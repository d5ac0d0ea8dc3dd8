"""Monthly periods, which may begin on a day that some months don't have. Also tax and money."""

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from credits.money import format_money, format_percent, with_tax, without_tax
from credits.plans.periods import Period, period_containing

DAYS = st.dates(date(2020, 1, 1), date(2090, 1, 1))


@pytest.mark.parametrize(
    ("day", "started_on", "start", "end"),
    [
        ("2026-11-21", "2026-11-21", "2026-11-21", "2026-12-21"),
        ("2026-12-20", "2026-11-21", "2026-11-21", "2026-12-21"),
        ("2026-12-21", "2026-11-21", "2026-12-21", "2027-01-21"),
        ("2027-02-14", "2026-01-31", "2027-01-31", "2027-02-28"),
        ("2027-02-28", "2026-01-31", "2027-02-28", "2027-03-31"),
        ("2028-02-29", "2026-01-30", "2028-02-29", "2028-03-30"),
        ("2027-03-30", "2026-01-31", "2027-02-28", "2027-03-31"),
        ("2026-01-01", "2025-12-31", "2025-12-31", "2026-01-31"),
    ],
)
def test_period_begins_on_the_day_of_the_subscription(
    day: str, started_on: str, start: str, end: str
) -> None:
    expected = Period(date.fromisoformat(start), date.fromisoformat(end))
    assert period_containing(date.fromisoformat(day), date.fromisoformat(started_on)) == expected


@given(day=DAYS, started_on=DAYS)
def test_every_day_is_in_one_period_that_the_next_one_follows(day: date, started_on: date) -> None:
    period = period_containing(day, started_on)
    assert period.start <= day < period.end
    assert period_containing(period.end, started_on).start == period.end
    assert 28 <= (period.end - period.start).days <= 31


@pytest.mark.parametrize(
    ("net", "rate", "tax"), [(3_500, "0.19", 665), (50, "0.19", 10), (1_500, "0", 0), (5, "0.1", 1)]
)
def test_tax_is_rounded_half_up_to_the_cent(net: int, rate: str, tax: int) -> None:
    amount = with_tax(net, Decimal(rate))
    assert (amount.tax_cents, amount.total_cents) == (tax, net + tax)


@given(net=st.integers(1, 10_000_000), rate=st.decimals(0, 1, places=4))
def test_net_amount_can_be_derived_from_the_total(net: int, rate: Decimal) -> None:
    assert without_tax(with_tax(net, rate).total_cents, rate) == net


def test_money_is_formatted_with_currency_and_thousands_separators() -> None:
    assert format_money(120_000, "USD") == "$1,200.00"
    assert format_money(5, "EUR") == "EUR 0.05"
    assert format_money(-5, "CHF") == "\N{MINUS SIGN}CHF 0.05"
    assert format_money(123_456_789_012, "USD") == "$1,234,567,890.12"
    percents = [format_percent(Decimal(rate)) for rate in ("0.19", "0.081", "0.2")]
    assert percents == ["19%", "8.1%", "20%"]
