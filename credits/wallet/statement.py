from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from django.template.defaultfilters import pluralize

from accounts.models import Account
from credits.models import EntryKind, LedgerEntry, Order, Wallet
from credits.wallet.totals import daily_usage
from runtime.dates import midnight, next_month


@dataclass
class StatementLine:
    day: date
    # None for the usage of a day.
    at: datetime | None
    description: str
    amount: int
    order: Order | None = None
    # After the line.
    balance: int = 0


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
    lines = _build_lines(account, first, end)
    for line in lines:
        balance += line.amount
        line.balance = balance
    return MonthlyStatement(first, lines[::-1], opening, balance)


def describe_entry(entry: LedgerEntry) -> str:
    """Describe an entry to customers, without naming staff."""
    if entry.kind == EntryKind.SIGNUP or entry.source.startswith(LedgerEntry.LOST_CHARGE):
        return entry.reason
    return f"{entry.get_kind_display()}: {entry.reason}"


def _build_lines(account: Account, first: date, end: date) -> list[StatementLine]:
    entries = account.ledger.filter(at__gte=midnight(first), at__lt=midnight(end))
    lines = [
        StatementLine(entry.at.date(), entry.at, describe_entry(entry), entry.amount, entry.order)
        for entry in entries.select_related("order").order_by("at", "pk")
    ]
    used: dict[date, tuple[int, int]] = {}
    for usage in daily_usage(account, first, end - timedelta(days=1), "day"):
        calls, credits = used.get(usage.of, (0, 0))
        # Count only calls that cost credits.
        used[usage.of] = (calls + (usage.calls if usage.credits else 0), credits + usage.credits)
    lines += [
        StatementLine(day, None, f"{calls:,} validation{pluralize(calls)}", -credits)
        for day, (calls, credits) in used.items()
        if credits
    ]
    # The usage of a day comes last.
    a_day = timedelta(days=1)
    return sorted(lines, key=lambda line: (line.day, line.at or midnight(line.day + a_day)))
