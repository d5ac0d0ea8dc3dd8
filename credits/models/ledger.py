"""The first book: what an account holds, and every movement that is not use.

`balance - debt = sum of the ledger - credits used`, at any moment. The ledger is append-only, which
triggers of the database hold against anybody (migration `append_only_ledger`).
"""

from datetime import date
from typing import Any, ClassVar

from django.db import connection, models
from django.db.models import F, FloatField, OuterRef, Q, Subquery, Sum, Value
from django.db.models.functions import Cast, Coalesce, Least
from django.utils import timezone

from accounts.models import Account
from credits.models.use import UseDay, UseHour
from credits.periods import midnight


class WalletQuerySet(models.QuerySet["Wallet"]):
    def charge(self, account: Account, cost: int) -> "tuple[int, int] | None":
        """The balance left and the threshold; None when the balance does not cover the cost.

        One conditional statement: of those who come at the same moment nobody reads a balance
        that another is about to change.
        """
        table = connection.ops.quote_name(self.model._meta.db_table)
        with connection.cursor() as cursor:
            cursor.execute(
                f"UPDATE {table} SET balance = balance - %s "  # noqa: S608 - our own table's name
                "WHERE account_id = %s AND balance >= %s "
                "RETURNING balance, COALESCE(low_balance_threshold, usual_threshold)",
                [cost, account.pk, cost],
            )
            row: tuple[int, int] | None = cursor.fetchone()
        return row

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


class LedgerEntry(models.Model):
    class Kind(models.TextChoices):
        SIGNUP = "signup", "Sign-up credits"
        PLAN = "plan", "Plan"
        PURCHASE = "purchase", "Purchase"
        GRANT = "grant", "Granted by staff"
        TAKE_BACK = "take_back", "Taken back by staff"
        REFUND = "refund", "Refund"

    OUTGOING = (Kind.TAKE_BACK, Kind.REFUND)

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="ledger")
    at = models.DateTimeField(default=timezone.now)
    kind = models.CharField(max_length=10, choices=Kind)
    # Negative for what goes out.
    amount = models.BigIntegerField()
    # What it is for, once and for all: the same form, order or event never books twice.
    source = models.CharField(max_length=200, unique=True)
    # A name as it was then, and no link to a row that may be erased.
    actor = models.CharField(max_length=254)
    reason = models.CharField(max_length=300)
    order = models.ForeignKey(
        "credits.Order", null=True, on_delete=models.PROTECT, related_name="entries"
    )

    class Meta:
        verbose_name_plural = "ledger"
        ordering = ["-at", "-pk"]
        indexes = [models.Index(fields=["account", "-at"], name="ledger_by_account")]
        constraints = [
            models.UniqueConstraint(
                fields=["account"], condition=Q(kind="signup"), name="sign_up_credits_once"
            ),
            models.CheckConstraint(
                condition=Q(kind__in=("take_back", "refund"), amount__lt=0)
                | Q(kind__in=("signup", "plan", "purchase", "grant"), amount__gt=0),
                name="amount_has_the_sign_of_its_kind",
            ),
            models.CheckConstraint(
                condition=~Q(reason="") & ~Q(actor="") & ~Q(source=""),
                name="entry_says_who_and_why",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.amount:+,}"


def _total(rows: Any, field: str) -> Coalesce:
    rows = rows.filter(account=OuterRef("account")).order_by()
    total = rows.values("account").annotate(total=Sum(field)).values("total")
    return Coalesce(Subquery(total), Value(0), output_field=models.BigIntegerField())
