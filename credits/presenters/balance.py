from dataclasses import dataclass
from datetime import date, timedelta

from django.template.defaultfilters import pluralize
from django.utils import timezone

from accounts.date_display import date_format
from credits.models import Wallet
from credits.money import MINUS, format_credits
from credits.wallet.statement import MonthlyStatement

UNTIL_REFILL = "API requests return 402 until you add credits."
DAYS_OF_A_YEAR = 365


@dataclass(frozen=True)
class LowBalance:
    headline: str
    text: str


def format_balance(number: int) -> str:
    """Format a balance, which is negative for a debt."""
    return f"{number:,}".replace("-", MINUS)


def format_signed(number: int) -> str:
    return f"+{number:,}" if number > 0 else format_balance(number)


def describe_duration(days: int) -> str:
    """Return text such as `about 3 days`."""
    if days > DAYS_OF_A_YEAR:
        return "more than a year"
    return f"about {days} day{pluralize(days)}" if days else "less than a day"


def forecast(wallet: Wallet, next_grant_on: date | None) -> str:
    """Say how long the balance lasts, and whether until then."""
    if wallet.days_left is None:
        return "No requests used credits in the last 7 days."
    if not wallet.balance:
        return "No credits are left."
    if wallet.days_left > DAYS_OF_A_YEAR:
        return "At this pace of requests, your credits last more than a year."
    today = timezone.now().date()
    last_day = date_format(today + timedelta(days=wallet.days_left))
    text = f"At this pace of requests, your credits last until {last_day}."
    if next_grant_on is None or next_grant_on <= today:
        return text
    rest = wallet.balance - round(wallet.daily_pace * (next_grant_on - today).days)
    rounded = f"{int(float(f'{abs(rest):.2g}')):,}"
    end = f"you get the next credits on {date_format(next_grant_on)}."
    if rest < 0:
        return f"{text} You need about {rounded} more until {end}"
    return f"{text} About {rounded} will be left when {end}"


def short_forecast(balance: int, days_left: int | None, held: int = 0) -> str:
    if not balance:
        text = "No credits left"
    elif days_left is None:
        text = "No recent requests"
    else:
        text = f"{describe_duration(days_left)} left".capitalize()
    return f"{text} · {held:,} held" if held else text


def balance_warning(wallet: Wallet) -> str:
    if wallet.debt:
        owed = format_credits(wallet.debt)
        return f"You owe {owed} that you used before a refund. New credits pay this off first."
    return "" if wallet.balance else UNTIL_REFILL


def held_note(held: int) -> str:
    if not held:
        return ""
    credits_are = pluralize(held, "credit is,credits are")
    return (
        f"{held:,} more {credits_are} held for work in progress. What they don't use returns to "
        "your balance."
    )


def low_balance(wallet: Wallet, days_left: int | None) -> LowBalance | None:
    if wallet.balance > wallet.threshold:
        return None
    if not wallet.balance:
        return LowBalance("No credits left.", _join(UNTIL_REFILL, held_note(wallet.held)))
    lasts = "" if days_left is None else f"Enough for {describe_duration(days_left)}. "
    headline = f"{format_credits(wallet.balance)} left."
    text = f"{lasts}At 0, API requests return 402."
    return LowBalance(headline, _join(text, held_note(wallet.held)))


def _join(*sentences: str) -> str:
    return " ".join(filter(None, sentences))


def summarize_month(month: MonthlyStatement, *, is_over: bool, held: int = 0) -> str:
    end = "closing" if is_over else "current"
    summary = f"Opening balance {format_balance(month.opening)}, {end} balance "
    summary += f"{format_balance(month.closing)}."
    if held and not is_over:
        summary += f" It includes {format_credits(held)} held for work in progress."
    if month.closing < 0:
        summary += " You owe the negative balance. New credits pay it off first."
    return summary
