"""What each account holds. `balance - debt = sum of the ledger - credits used`, at any moment."""

from datetime import date
from functools import cache
from typing import Any, ClassVar

from django.db import connection, models
from django.db.models import F, FloatField, OuterRef, Q, Subquery, Sum, Value
from django.db.models.functions import Cast, Coalesce, Least

from accounts.models import Account
from credits.models.ledger import LedgerEntry
from credits.models.use import UseDay, UseHour
from credits.periods import midnight
from runtime.database.raw_sql import BulkInsert, JsonRows, decide_and_insert, execute


class WalletQuerySet(models.QuerySet["Wallet"]):
    def charge_all(self, costs: dict[int, int]) -> dict[int, tuple[int, int]]:
        """By account: the balance left, and the threshold. Left out is whose balance does not cover
        the cost.

        One conditional statement: of those who come at the same moment nobody reads a balance
        that another is about to change.
        """
        rows = execute(_charge(quietly=False), [_COSTS.value(costs.items())])
        return {account_id: (balance, threshold) for account_id, balance, threshold in rows}

    def charge_quietly(self, costs: dict[int, int], *records: BulkInsert) -> dict[int, int]:
        """By account: the balance left. With what is to be recorded of the same accounts.

        Left out is also whose wallet somebody else is changing, which nobody waits for here, and
        who is to be told about the balance, which takes a mail in the same transaction.
        """
        value = _COSTS.value(costs.items())
        rows = decide_and_insert(_charge(quietly=True), value, *records)
        return {account_id: balance for account_id, balance, _ in rows}

    def add(self, account: Account, amount: int) -> None:
        """What comes in pays the debt first."""
        pays = Least(F("debt"), Value(amount))
        self.filter(account=account).update(
            balance=F("balance") + amount - pays, debt=F("debt") - pays
        )

    def take(self, account: Account, amount: int) -> None:
        """What goes out and is not there any more becomes debt."""
        taken = Least(F("balance"), Value(amount))
        self.filter(account=account).update(
            balance=F("balance") - taken, debt=F("debt") + amount - taken
        )

    def with_books(self, since: date | None = None) -> "WalletQuerySet":
        """Both books of each account, of one moment: it is one statement. All of them, or what was
        booked since the beginning of a day."""
        entries, hours = LedgerEntry.objects.all(), UseHour.objects.open()
        days = UseDay.objects.all()
        if since is not None:
            entries = entries.filter(at__gte=midnight(since))
            hours, days = hours.filter(hour__gte=midnight(since)), days.filter(day__gte=since)
        return self.annotate(
            booked=_total(entries, "amount"),
            used=_total(hours, "credits") + _total(days, "credits"),
        )

    def running_dry(self, since: date) -> "WalletQuerySet":
        """Of open accounts that used something since then: those that would not last as long
        again, or have little left. The worst come first."""
        hours = UseHour.objects.open().filter(hour__gte=midnight(since))
        days = UseDay.objects.filter(day__gte=since)
        in_use = self.filter(account__closed_at=None).annotate(
            used=_total(hours, "credits") + _total(days, "credits")
        )
        threshold = Coalesce("low_balance_threshold", "usual_threshold")
        low = Q(balance__lte=threshold) | Q(balance__lt=F("used"))
        share_left = Cast("balance", FloatField()) / F("used")
        return in_use.filter(low, used__gt=0).order_by(share_left, "-used", "account")


class Wallet(models.Model):
    """One row an account, made when it is opened."""

    account = models.OneToOneField(
        Account, primary_key=True, on_delete=models.CASCADE, related_name="wallet"
    )
    balance = models.BigIntegerField(default=0)
    # A refund of credits that were spent already: the next grant pays it.
    debt = models.BigIntegerField(default=0)
    # When the balance falls to it, a mail goes out: the customer's own, or the plan's.
    low_balance_threshold = models.BigIntegerField(null=True, blank=True)
    usual_threshold = models.BigIntegerField(default=10)

    objects: ClassVar[WalletQuerySet] = WalletQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        permissions = [
            ("grant_credits", "Can grant credits"),
            ("take_back_credits", "Can take credits back"),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(balance__gte=0), name="balance_is_not_negative"),
            models.CheckConstraint(condition=Q(debt__gte=0), name="debt_is_not_negative"),
            models.CheckConstraint(
                condition=Q(balance=0) | Q(debt=0), name="a_debt_is_paid_before_anything_is_held"
            ),
            models.CheckConstraint(
                condition=Q(low_balance_threshold=None) | Q(low_balance_threshold__gte=0),
                name="threshold_is_not_negative",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.balance:,} credits"

    @property
    def threshold(self) -> int:
        own = self.low_balance_threshold
        return self.usual_threshold if own is None else own


# What is to be charged to whom.
_COSTS = JsonRows(account=models.BigIntegerField(), cost=models.BigIntegerField())


_THRESHOLD = "COALESCE(low_balance_threshold, usual_threshold)"
_COVERED = "balance >= cost"
_NOTHING_TO_TELL = f"balance > cost AND (balance <= {_THRESHOLD} OR balance - cost > {_THRESHOLD})"


@cache
def _charge(*, quietly: bool) -> str:
    given = _COSTS.table
    if connection.vendor == "postgresql":
        # In one order: of two who lock several wallets neither waits for the other in vain.
        given = f"""(
            SELECT account, cost FROM credits_wallet wallet JOIN {given} ON account_id = account
            ORDER BY account FOR NO KEY UPDATE OF wallet {"SKIP LOCKED" if quietly else ""}
        ) AS given"""  # noqa: S608 - our own names
    return f"""
        UPDATE credits_wallet SET balance = balance - cost FROM {given}
        WHERE account_id = account AND {_NOTHING_TO_TELL if quietly else _COVERED}
        RETURNING account_id, balance, {_THRESHOLD}
    """  # noqa: S608 - our own names


def _total(rows: Any, field: str) -> Coalesce:
    rows = rows.filter(account=OuterRef("account")).order_by()
    total = rows.values("account").annotate(total=Sum(field)).values("total")
    return Coalesce(Subquery(total), Value(0), output_field=models.BigIntegerField())
