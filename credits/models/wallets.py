"""Two books, ledger and usage: at any time `balance + held - debt = ledger - used`."""

from datetime import date, timedelta
from functools import cache, cached_property

from django.db import connection, models
from django.db.models import F, FloatField, Min, OuterRef, Q, Subquery, Sum, Value
from django.db.models.functions import Cast, Coalesce, Least
from django.utils import timezone

from accounts.models import Account
from credits.models.holds import Hold
from credits.models.ledger import LedgerEntry
from credits.models.usage import UseDay, UseHour, UseQuerySet
from runtime.database.raw_sql import BulkInsert, JsonTable, decide_and_insert, execute
from runtime.dates import midnight

PACE_DAYS = 7


class WalletQuerySet(models.QuerySet["Wallet"]):
    def charge(self, account: Account, cost: int) -> tuple[int, int] | None:
        """Return balance and threshold, or None if the balance is too low.

        One conditional UPDATE keeps transactions from deciding on a balance that another is
        changing.
        """
        rows = execute(_charge_sql(_IS_COVERED), [_COSTS.value([(account.pk, cost)])])
        return (rows[0][1], rows[0][2]) if rows else None

    def charge_and_insert(
        self, costs: dict[int, int], *inserts: BulkInsert, skip_locked: bool
    ) -> dict[int, int]:
        """Deduct costs, insert the rows of the accounts charged, and return the balances.

        Leaves out wallets that don't cover the cost, that reach the threshold or zero (an email has
        to be queued), and with `skip_locked` locked ones, so that no account waits for another.
        """
        value = _COSTS.value(costs.items())
        decision = _charge_sql(_NEEDS_NO_EMAIL, skip_locked=skip_locked)
        rows = decide_and_insert(decision, value, *inserts)
        return {account_id: balance for account_id, balance, _ in rows}

    def add(self, account: Account, amount: int) -> None:
        """The credits pay the debt first."""
        paid_off = Least(F("debt"), Value(amount))
        self.filter(account=account).update(
            balance=F("balance") + amount - paid_off,
            debt=F("debt") - paid_off,
            announced_by_hold=None,
        )

    def deduct(self, account: Account, amount: int) -> None:
        """What exceeds the balance cancels holds, then becomes a debt."""
        wallet = self.select_for_update().get(account=account)
        if wallet.held and amount > wallet.balance:
            wallet.free(Hold.objects.cancel_newest(account, amount - wallet.balance))
        available = min(wallet.balance, amount)
        wallet.balance -= available
        wallet.debt += amount - available
        wallet.save(update_fields=["balance", "held", "debt"])

    def with_totals(self, since: date | None = None) -> "WalletQuerySet":
        """Use one statement, so that the totals match the balance."""
        entries, hours = LedgerEntry.objects.all(), UseHour.objects.open()
        days = UseDay.objects.all()
        if since is not None:
            entries = entries.filter(at__gte=midnight(since))
            hours, days = hours.filter(hour__gte=midnight(since)), days.filter(day__gte=since)
        return self.annotate(
            ledger_total=_total(entries, "amount"),
            usage_total=_total(hours, "credits") + _total(days, "credits"),
            holds_total=_total(Hold.objects.all(), "remaining"),
        )

    def running_low(self, since: date) -> "WalletQuerySet":
        """Return wallets of open accounts at the threshold, or with less than requests used."""
        hours = UseHour.objects.open().filter(hour__gte=midnight(since))
        days = UseDay.objects.filter(day__gte=since)
        used = _total(hours, "credits") + _total(days, "credits")
        by_lists = _total(hours, "list_credits") + _total(days, "list_credits")
        in_use = self.filter(account__closed_at=None).annotate(
            used=used, used_by_requests=used - by_lists
        )
        threshold = Coalesce("low_balance_threshold", "usual_threshold")
        low = Q(balance__lte=threshold) | Q(balance__lt=F("used_by_requests"))
        share_left = Cast("balance", FloatField()) / F("used")
        return in_use.filter(low, used__gt=0).order_by(share_left, "-used", "account")


class Wallet(models.Model):
    account = models.OneToOneField(
        Account, primary_key=True, on_delete=models.CASCADE, related_name="wallet"
    )
    # Without held credits.
    balance = models.BigIntegerField(default=0)
    held = models.BigIntegerField(default=0, db_default=0)
    # Deductions of spent credits. New credits pay it off.
    debt = models.BigIntegerField(default=0)
    low_balance_threshold = models.BigIntegerField(null=True, blank=True)
    usual_threshold = models.BigIntegerField(default=10)
    # The balance in the last email about a hold since credits came in.
    announced_by_hold = models.BigIntegerField(null=True, editable=False)

    objects = WalletQuerySet.as_manager()

    class Meta:
        permissions = [
            ("grant_credits", "Can grant credits"),
            ("deduct_credits", "Can deduct credits"),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(balance__gte=0), name="balance_is_not_negative"),
            models.CheckConstraint(condition=Q(held__gte=0), name="held_is_not_negative"),
            models.CheckConstraint(condition=Q(debt__gte=0), name="debt_is_not_negative"),
            models.CheckConstraint(
                condition=Q(balance=0, held=0) | Q(debt=0), name="debt_is_paid_first"
            ),
            models.CheckConstraint(
                condition=Q(low_balance_threshold=None) | Q(low_balance_threshold__gte=0),
                name="threshold_is_not_negative",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.balance:,} credits"

    @property
    def owned(self) -> int:
        return self.balance + self.held - self.debt

    def hold(self, amount: int) -> None:
        self.balance -= amount
        self.held += amount

    @property
    def announces_hold(self) -> bool:
        """After a release, a hold can cross a threshold again."""
        announced = self.announced_by_hold
        return announced is None or self.balance == 0 < announced

    def free(self, amount: int) -> None:
        self.hold(-amount)

    @property
    def threshold(self) -> int:
        own = self.low_balance_threshold
        return self.usual_threshold if own is None else own

    @property
    def days_left(self) -> int | None:
        """Return None if no requests used credits in the last week."""
        return int(self.balance / self.daily_pace) if self.daily_pace else None

    @cached_property
    def daily_pace(self) -> float:
        """Return the credits that requests use per day. Lists come irregularly."""
        since = timezone.now() - timedelta(days=PACE_DAYS)
        hours = UseHour.objects.filter(account=self.account_id, hour__gte=since)
        week = hours.aggregate(
            used=Sum(F("credits") - F("list_credits")),
            first=Min("hour", filter=Q(calls__gt=F("list_calls"))),
        )
        if not week["used"]:
            return 0
        hours_in_use = max(24.0, (timezone.now() - week["first"]).total_seconds() / 3600)
        return float(week["used"] / hours_in_use * 24)


_COSTS = JsonTable(account=models.BigIntegerField(), cost=models.BigIntegerField())
_MAX_COST = models.BigIntegerField.MAX_BIGINT


_THRESHOLD = "COALESCE(low_balance_threshold, usual_threshold)"
_IS_COVERED = "balance >= cost"
_NEEDS_NO_EMAIL = f"balance > cost AND (balance <= {_THRESHOLD} OR balance - cost > {_THRESHOLD})"


@cache
def _charge_sql(condition: str, *, skip_locked: bool = False) -> str:
    costs = _COSTS.table
    if connection.vendor == "postgresql":
        # Locks wallets in one order, so that transactions can't deadlock. The range includes every
        # cost. Without it, PostgreSQL expects 100 rows of JSON and scans the table.
        costs = f"""(
            SELECT account, cost FROM credits_wallet wallet JOIN {costs} ON account_id = account
            WHERE cost BETWEEN 0 AND {_MAX_COST}
            ORDER BY account FOR NO KEY UPDATE OF wallet {"SKIP LOCKED" if skip_locked else ""}
        ) AS locked_costs"""  # noqa: S608 - our own names
    return f"""
        UPDATE credits_wallet SET balance = balance - cost FROM {costs}
        WHERE account_id = account AND {condition}
        RETURNING account_id, balance, {_THRESHOLD}
    """  # noqa: S608 - our own names


def _total(
    rows: UseQuerySet | models.QuerySet[LedgerEntry] | models.QuerySet[Hold], field: str
) -> Coalesce:
    rows = rows.filter(account=OuterRef("account")).order_by()
    total = rows.values("account").annotate(total=Sum(field)).values("total")
    return Coalesce(Subquery(total), Value(0), output_field=models.BigIntegerField())
