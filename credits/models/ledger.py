"""Every movement of credits other than usage.

Append-only, by triggers: migrations/0002_append_only_ledger.py.
"""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models import Account


class EntryKind(models.TextChoices):
    SIGNUP = "signup", "Sign-up credits"
    PLAN = "plan", "Plan"
    PURCHASE = "purchase", "Purchase"
    GRANT = "grant", "Granted by staff"
    DEDUCT = "deduct", "Deducted by staff"
    REFUND = "refund", "Refund"


class LedgerEntry(models.Model):
    LOST_CHARGE = "lost_charge:"
    OUTGOING = (EntryKind.DEDUCT, EntryKind.REFUND)

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="ledger")
    at = models.DateTimeField(default=timezone.now)
    kind = models.CharField(max_length=10, choices=EntryKind)
    amount = models.BigIntegerField()
    # Idempotency key: the form, order, or event.
    source = models.CharField(max_length=200, unique=True)
    # An email address, as users can be erased.
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
                condition=Q(kind__in=("deduct", "refund"), amount__lt=0)
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
