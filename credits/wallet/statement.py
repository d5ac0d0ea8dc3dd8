"""Account statements for the billing pages: every movement, with the balance after it."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from accounts.models import Account
from credits.models import LedgerEntry, Order, Wallet
from credits.wallet.totals import usage_by_day
from runtime.dates import midnight, next_month


@dataclass(frozen=True)
class StatementLine:
    day: date
    # None for the usage of a day, which is recorded by the hour.
    at: datetime | None
    description: str
    amount: int
    balance: int
    order: Order | None = None


@dataclass(frozen=True)
class MonthlyStatement:
    first: date
    lines: list[StatementLine]
    opening: int
    closing: int


def monthly_statement(account: Account, first: date) -> MonthlyStatement:
    """Return the movements, newest first, each with the balance after it.

    Debts are negative. Held credits count until they are charged.
    """
    end = next_month(first)
    opening = balance = _balance_before(account, first)
    lines = []
    for day, at, description, amount, order in _movements(account, first, end):
        balance += amount
        lines.append(StatementLine(day, at, description, amount, balance, order))
    return MonthlyStatement(first, lines[::-1], opening, balance)


def describe_entry(entry: LedgerEntry) -> str:
    """Describe an entry to customers, without naming staff. The audit log has their names."""
    if entry.kind == LedgerEntry.Kind.SIGNUP or entry.source.startswith(LedgerEntry.LOST_CHARGE):
        return entry.reason
    return f"{entry.get_kind_display()}: {entry.reason}"


Movement = tuple[date, datetime | None, str, int, Order | None]


def _movements(account: Account, first: date, end: date) -> list[Movement]:
    entries = account.ledger.filter(at__gte=midnight(first), at__lt=midnight(end))
    movements: list[Movement] = [
        (entry.at.date(), entry.at, describe_entry(entry), entry.amount, entry.order)
        for entry in entries.select_related("order").order_by("at", "pk")
    ]
    used: dict[date, tuple[int, int]] = {}
    for usage in usage_by_day(account, first, end - timedelta(days=1)):
        calls, credits = used.get(usage.of, (0, 0))
        # Counts only calls that cost credits.
        used[usage.of] = (calls + (usage.calls if usage.credits else 0), credits + usage.credits)
    movements += [
        (day, None, f"{calls:,} validation{'' if calls == 1 else 's'}", -credits, None)
        for day, (calls, credits) in used.items()
        if credits
    ]
    # The usage of a day comes after its ledger entries.
    return sorted(movements, key=lambda m: (m[0], m[1] or midnight(m[0] + timedelta(days=1))))


def _balance_before(account: Account, day: date) -> int:
    """Subtract all later movements from the current balance.

    For recent months this reads few rows. One statement, so balance and movements are consistent.
    """
    wallet: Any = Wallet.objects.with_totals(since=day).get(account=account)
    return int(wallet.owned - wallet.ledger_total + wallet.usage_total)
