from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from django.template.defaultfilters import pluralize

from accounts.models import Account
from credits.models import EntryKind, LedgerEntry, Order, Wallet
from credits.wallet.totals import daily_usage
from runtime.dates import midnight, next_month


@dataclass(frozen=True)
class StatementLine:
    day: date
    # None for the usage of a day.
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
    """Held credits count until they are charged."""
    end = next_month(first)
    # Subtract later movements, in one statement so that they match the balance.
    wallet: Any = Wallet.objects.with_totals(since=first).get(account=account)
    opening = balance = int(wallet.owned - wallet.ledger_total + wallet.usage_total)
    lines = []
    for day, at, description, amount, order in _movements(account, first, end):
        balance += amount
        lines.append(StatementLine(day, at, description, amount, balance, order))
    return MonthlyStatement(first, lines[::-1], opening, balance)


def describe_entry(entry: LedgerEntry) -> str:
    """Describe an entry to customers, without naming staff."""
    if entry.kind == EntryKind.SIGNUP or entry.source.startswith(LedgerEntry.LOST_CHARGE):
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
    for usage in daily_usage(account, first, end - timedelta(days=1), "day"):
        calls, credits = used.get(usage.of, (0, 0))
        # Count only calls that cost credits.
        used[usage.of] = (calls + (usage.calls if usage.credits else 0), credits + usage.credits)
    movements += [
        (day, None, f"{calls:,} validation{pluralize(calls)}", -credits, None)
        for day, (calls, credits) in used.items()
        if credits
    ]
    # The usage of a day comes last.
    return sorted(movements, key=lambda m: (m[0], m[1] or midnight(m[0] + timedelta(days=1))))
