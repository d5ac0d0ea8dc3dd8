"""What pages say about the balance."""

from datetime import date

import pytest
import time_machine

from credits.models import Wallet
from credits.money import format_credits
from credits.presenters.balance import (
    forecast,
    format_signed,
    held_note,
    low_balance,
    short_forecast,
    summarize_month,
)
from credits.wallet.statement import MonthlyStatement


def wallet(balance: int, *, debt: int = 0, pace: float = 0) -> Wallet:
    row = Wallet(balance=balance, debt=debt, usual_threshold=10)
    row.daily_pace = pace
    return row


def test_numbers_have_separators_units_and_signs() -> None:
    assert [format_credits(n) for n in (0, 1, 1_200)] == ["0 credits", "1 credit", "1,200 credits"]
    minus = "\N{MINUS SIGN}"
    assert [format_signed(n) for n in (1_200, 0, -1_200)] == ["+1,200", "0", f"{minus}1,200"]


@pytest.mark.parametrize(
    ("days", "duration"),
    [
        (0, "Less than a day"),
        (1, "About 1 day"),
        (365, "About 365 days"),
        (366, "More than a year"),
    ],
)
def test_short_forecast_rounds_the_duration(days: int, duration: str) -> None:
    assert short_forecast(50, days) == f"{duration} left"


def test_forecast_without_usage_or_credits() -> None:
    assert forecast(wallet(50), None) == "No requests used credits in the last 7 days."
    assert short_forecast(50, None) == "No recent requests"
    assert short_forecast(0, None) == "No credits left"
    assert forecast(wallet(0, pace=3), None) == "No credits are left."


def test_forecast_compares_the_balance_with_the_pace_until_the_next_credits() -> None:
    grant, november = date(2026, 12, 20), "last until 30 Nov 2026."
    short = f"{november} You need about 2,000 more until you get the next credits on 20 Dec 2026."
    left = "About 520 will be left when you get the next credits on 20 Dec 2026."
    for balance, next_grant_on, text in (
        (1_000, None, november),
        (1_000, date(2026, 11, 20), november),
        (1_000, grant, short),
        (3_517, grant, f"last until 25 Dec 2026. {left}"),
        (50_000, grant, "last more than a year."),
    ):
        with time_machine.travel(date(2026, 11, 20)):
            said = forecast(wallet(balance, pace=100), next_grant_on)
        assert said == f"At this pace of requests, your credits {text}"


def test_low_balance_warns_at_the_threshold() -> None:
    assert low_balance(wallet(11), 3) is None
    refused = "At 0, API requests return 402."
    for balance, days, headline, text in (
        (10, 3, "10 credits left.", f"Enough for about 3 days. {refused}"),
        (1, None, "1 credit left.", refused),
    ):
        low = low_balance(wallet(balance), days)
        assert low is not None
        assert (low.headline, low.text) == (headline, text)
    empty = low_balance(wallet(0), 0)
    assert empty is not None
    assert empty.headline == "No credits left."


def test_held_credits_are_named_only_if_there_are_any() -> None:
    assert held_note(0) == ""
    assert held_note(1).startswith("1 more credit is held for work in progress.")
    assert held_note(1_200).startswith("1,200 more credits are held for work in progress.")
    low = low_balance(Wallet(balance=0, held=5, usual_threshold=10), 0)
    assert low is not None
    assert "5 more credits are held" in low.text


def test_month_is_summarized_by_its_balances() -> None:
    month = MonthlyStatement(date(2026, 11, 1), [], 100, 1_058)
    over = "Opening balance 100, closing balance 1,058."
    assert summarize_month(month, is_over=True) == over
    assert "current balance 1,058." in summarize_month(month, is_over=False)
    held = summarize_month(month, is_over=False, held=58)
    assert "current balance 1,058. It includes 58 credits held for work in progress." in held
    assert summarize_month(month, is_over=True, held=58) == over
    debt = summarize_month(MonthlyStatement(date(2026, 11, 1), [], 0, -5), is_over=False)
    assert "current balance \N{MINUS SIGN}5. You owe" in debt
