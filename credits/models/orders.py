from datetime import date, timedelta

from django.db import models, transaction
from django.db.models import F, Q
from django.utils import timezone

from accounts.models import Account
from credits.models.catalog import Pack, Plan
from credits.models.invoice_files import InvoiceFile
from credits.money import format_money
from runtime.ids import random_id


def order_id() -> str:
    return random_id("ord")


class OrderKind(models.TextChoices):
    PACK = "pack", "Credit pack"
    PLAN = "plan", "Plan"
    UPGRADE = "upgrade", "Upgrade"
    RENEWAL = "renewal", "Renewal"
    GIFT = "gift", "Assigned by staff"


class OrderState(models.TextChoices):
    PENDING = "pending", "Unpaid"
    PAID = "paid", "Paid"
    CANCELLED = "cancelled", "Canceled"
    REFUNDED = "refunded", "Refunded"


class OrderMethod(models.TextChoices):
    INVOICE = "invoice", "Invoice"
    STRIPE = "stripe", "Card"
    NONE = "none", "Nothing to pay"


class OrderQuerySet(models.QuerySet["Order"]):
    def pending(self) -> "OrderQuerySet":
        return self.filter(state=OrderState.PENDING)

    @transaction.atomic
    def cancel(self) -> int:
        InvoiceFile.objects.filter(order__in=self).discard()
        return self.update(state=OrderState.CANCELLED, cancelled_at=timezone.now())

    def for_plans(self) -> "OrderQuerySet":
        return self.exclude(kind=OrderKind.PACK)


class Order(models.Model):
    """An order for a pack or plan, with the terms and names at that time."""

    public_id = models.CharField(max_length=30, unique=True, editable=False, default=order_id)
    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="orders")
    kind = models.CharField(max_length=10, choices=OrderKind)
    state = models.CharField(max_length=10, choices=OrderState, default=OrderState.PENDING)
    method = models.CharField(max_length=10, choices=OrderMethod)
    pack = models.ForeignKey(Pack, null=True, on_delete=models.PROTECT, related_name="+")
    plan = models.ForeignKey(Plan, null=True, on_delete=models.PROTECT, related_name="+")
    description = models.CharField(max_length=200)
    credits = models.PositiveIntegerField()
    requests_per_minute = models.PositiveIntegerField(null=True)
    # Final once the order is paid. Read by plans/coverage.py.
    period_start = models.DateField(null=True)
    period_end = models.DateField(null=True)

    net_cents = models.PositiveIntegerField()
    tax_cents = models.PositiveIntegerField()
    tax_rate = models.DecimalField(max_digits=6, decimal_places=5)
    tax_reason = models.CharField(max_length=100, blank=True, default="", db_default="")
    currency = models.CharField(max_length=3)
    refunded_cents = models.PositiveIntegerField(default=0)

    # Without gaps. Assigned to invoices when issued, to card orders when paid.
    invoice_number = models.PositiveIntegerField(null=True, unique=True)
    invoiced_on = models.DateField(null=True)
    buyer_name = models.CharField(max_length=200)
    buyer_address = models.TextField(max_length=500, blank=True)
    buyer_tax_id = models.CharField(max_length=50, blank=True)
    buyer_country = models.CharField(max_length=2, blank=True, default="", db_default="")
    seller_name = models.CharField(max_length=200)
    seller_address = models.TextField()
    seller_tax_id = models.CharField(max_length=100)
    payment_details = models.TextField(blank=True)

    placed_by = models.CharField(max_length=254)
    placed_at = models.DateTimeField(default=timezone.now)
    due_on = models.DateField()
    paid_at = models.DateTimeField(null=True)
    cancelled_at = models.DateTimeField(null=True)
    refunded_at = models.DateTimeField(null=True)
    # When a card was first declined, which is emailed once.
    payment_failed_at = models.DateTimeField(null=True)
    # Identifies the form: resubmitting it places no second order.
    form_token = models.CharField(max_length=32, null=True, editable=False)  # noqa: DJ001

    saves_card = models.BooleanField(default=False, db_default=False)
    provider_session = models.CharField(max_length=200, blank=True, editable=False)
    provider_payment = models.CharField(max_length=200, blank=True, db_index=True, editable=False)
    provider_invoice = models.CharField(max_length=200, blank=True, editable=False)
    provider_url = models.URLField(max_length=2000, blank=True, editable=False)

    objects = OrderQuerySet.as_manager()

    class Meta:
        ordering = ["-placed_at", "-pk"]
        permissions = [
            ("mark_paid_order", "Can mark orders paid, and cancel them"),
            ("refund_order", "Can refund orders"),
        ]
        indexes = [models.Index(fields=["account", "-placed_at"], name="order_by_account")]
        constraints = [
            models.UniqueConstraint(fields=["account", "form_token"], name="one_order_for_a_form"),
            models.UniqueConstraint(
                fields=["account"],
                condition=Q(state="pending", kind__in=("plan", "upgrade")),
                name="one_plan_order_waits",
            ),
            models.UniqueConstraint(
                fields=["account"],
                condition=Q(state="pending", kind="renewal"),
                name="one_renewal_waits",
            ),
            models.UniqueConstraint(
                fields=["provider_invoice"],
                condition=~Q(provider_invoice=""),
                name="provider_invoice_is_one_order",
            ),
            models.CheckConstraint(
                condition=Q(kind="pack", pack__isnull=False, plan=None)
                | ~Q(kind="pack") & Q(plan__isnull=False, pack=None),
                name="order_is_for_a_pack_or_a_plan",
            ),
            models.CheckConstraint(
                condition=Q(refunded_cents__lte=F("net_cents") + F("tax_cents")),
                name="no_more_is_refunded_than_was_paid",
            ),
            models.CheckConstraint(
                condition=Q(state__in=("pending", "cancelled"))
                | Q(state="paid", paid_at__isnull=False)
                | Q(state="refunded", refunded_at__isnull=False),
                name="order_state_is_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.number}: {self.description}"

    @property
    def number(self) -> str:
        return f"INV-{self.invoice_number:06}" if self.invoice_number else self.public_id

    @property
    def total_cents(self) -> int:
        return self.net_cents + self.tax_cents

    def money(self, cents: int) -> str:
        """Format an amount in the order's currency."""
        return format_money(cents, self.currency)

    @property
    def last_day(self) -> date | None:
        return self.period_end - timedelta(days=1) if self.period_end else None

    def ends_after(self, day: date) -> bool:
        return self.period_end is not None and self.period_end > day

    def assign_invoice_number(self) -> None:
        """The caller saves the order."""
        if self.invoice_number is None:
            self.invoice_number = InvoiceCounter.next()
            self.invoiced_on = timezone.now().date()

    def draw_invoice(self) -> None:
        if self.invoice_number is not None:
            InvoiceFile.objects.get_or_create(order=self)
            InvoiceFile.objects.filter(order=self).discard()

    @property
    def was_paid_by_card(self) -> bool:
        return bool(self.provider_payment or self.provider_invoice)

    @property
    def is_pending(self) -> bool:
        return self.state == OrderState.PENDING

    @property
    def is_paid(self) -> bool:
        return self.state == OrderState.PAID

    @property
    def is_overdue(self) -> bool:
        return self.is_pending and self.due_on < timezone.now().date()


class InvoiceCounter(models.Model):
    """The transaction that uses a number increments it: a rollback leaves no gap."""

    last = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.last} invoices"

    @classmethod
    def next(cls) -> int:
        counter, _ = cls.objects.get_or_create(pk=1)
        cls.objects.filter(pk=1).update(last=F("last") + 1)
        counter.refresh_from_db()
        return counter.last


class ProviderEvent(models.Model):
    """A provider's event, stored so that it is handled once."""

    event_id = models.CharField(max_length=200, unique=True)
    kind = models.CharField(max_length=100)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-at"]

    def __str__(self) -> str:
        return f"{self.kind} {self.event_id}"
