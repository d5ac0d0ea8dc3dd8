"""The ledger: every movement of credits other than usage.

The ledger is append-only. Database triggers enforce this for every client:
credits/migrations/0003_append_only_ledger.py.
"""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models import Account


class LedgerEntry(models.Model):
    class Kind(models.TextChoices):
        SIGNUP = "signup", "Sign-up credits"
        PLAN = "plan", "Plan"
        PURCHASE = "purchase", "Purchase"
        GRANT = "grant", "Granted by staff"
        TAKE_BACK = "take_back", "Deducted by staff"
        REFUND = "refund", "Refund"

    # Prefix of the source of automatic refunds, which are grants: validation/charging/.
    LOST_CHARGE = "lost_charge:"
    OUTGOING = (Kind.TAKE_BACK, Kind.REFUND)

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="ledger")
    at = models.DateTimeField(default=timezone.now)
    kind = models.CharField(max_length=10, choices=Kind)
    # Negative for outgoing credits.
    amount = models.BigIntegerField()
    # Idempotency key: a form, order, or event never posts two entries.
    source = models.CharField(max_length=200, unique=True)
    # Email address at that time, not a foreign key: users can be erased.
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
