"""Plans and packs, edited by staff. Orders store a copy of their terms."""

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower

from runtime.ids import random_id
from runtime.unicode import validate_line

MAX_CREDITS = 1_000_000_000
_CREDITS = [MinValueValidator(1), MaxValueValidator(MAX_CREDITS)]
# So that the sum of a few prices fits an integer column.
MAX_CENTS = 100_000_000
_CENTS = [MaxValueValidator(MAX_CENTS)]
_RATE = [MinValueValidator(1), MaxValueValidator(1_000_000)]
_LIST_ADDRESSES = [MinValueValidator(1), MaxValueValidator(10_000_000)]
_LIST_BYTES = [MinValueValidator(1), MaxValueValidator(1 << 30)]
FREE = "free"


def pack_id() -> str:
    return random_id("pck")


class PlanQuerySet(models.QuerySet["Plan"]):
    def free(self) -> "Plan":
        return self.get(code=FREE)

    def offered(self) -> "PlanQuerySet":
        return self.filter(is_offered=True)


class Plan(models.Model):
    code = models.SlugField(
        max_length=30,
        unique=True,
        validators=[
            RegexValidator("^[a-z0-9-]+$", "Use only lowercase letters, digits, and hyphens.")
        ],
        help_text="Shown in the API. You can't change it later.",
    )
    name = models.CharField(max_length=40, validators=[validate_line])
    price_cents = models.PositiveIntegerField("price per month, cents, net", validators=_CENTS)
    monthly_credits = models.PositiveIntegerField("credits per month", validators=_CREDITS)
    requests_per_minute = models.PositiveIntegerField("requests per minute", validators=_RATE)
    list_addresses = models.PositiveIntegerField(
        "addresses per list", default=10_000, db_default=10_000, validators=_LIST_ADDRESSES
    )
    list_bytes = models.PositiveBigIntegerField(
        "bytes of unfinished lists", default=10 << 20, db_default=10 << 20, validators=_LIST_BYTES
    )
    is_offered = models.BooleanField(
        "offered",
        default=True,
        help_text="Accounts on this plan keep it even if it's no longer offered.",
    )

    objects = PlanQuerySet.as_manager()

    class Meta:
        ordering = ["price_cents", "pk"]
        constraints = [
            models.CheckConstraint(
                # No rule would assign another free plan.
                condition=Q(code=FREE, price_cents=0) | ~Q(code=FREE) & Q(price_cents__gt=0),
                name="only_free_costs_nothing",
            ),
            models.CheckConstraint(
                condition=Q(monthly_credits__gt=0) & Q(requests_per_minute__gt=0),
                name="plan_gives_something",
            ),
            models.CheckConstraint(
                condition=Q(price_cents__lte=MAX_CENTS), name="plan_price_is_bounded"
            ),
            models.UniqueConstraint(Lower("name"), name="plan_name_is_its_own"),
        ]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        # Model validation skips constraints on `code` if the form doesn't show it.
        if not self.is_free and self.price_cents == 0:
            raise ValidationError({"price_cents": "Only the Free plan can have a price of 0."})

    @property
    def is_free(self) -> bool:
        return self.code == FREE

    @property
    def usual_threshold(self) -> int:
        return max(10, self.monthly_credits // 10)


class PackQuerySet(models.QuerySet["Pack"]):
    def offered(self) -> "PackQuerySet":
        return self.filter(is_offered=True)

    def covering(self, credits: int) -> "Pack | None":
        """Return the smallest offered pack with that many credits, or the largest one."""
        packs = self.offered().order_by("credits")
        return packs.filter(credits__gte=credits).first() or packs.last()


class Pack(models.Model):
    public_id = models.CharField(max_length=30, unique=True, editable=False, default=pack_id)
    credits = models.PositiveIntegerField(unique=True, validators=_CREDITS)
    price_cents = models.PositiveIntegerField(
        "price, cents, net", validators=[MinValueValidator(1), *_CENTS]
    )
    requests_per_minute = models.PositiveIntegerField("requests per minute", validators=_RATE)
    list_addresses = models.PositiveIntegerField(
        "addresses per list", default=10_000, db_default=10_000, validators=_LIST_ADDRESSES
    )
    list_bytes = models.PositiveBigIntegerField(
        "bytes of unfinished lists", default=10 << 20, db_default=10 << 20, validators=_LIST_BYTES
    )
    is_offered = models.BooleanField("offered", default=True)

    objects = PackQuerySet.as_manager()

    class Meta:
        ordering = ["credits"]
        constraints = [
            models.CheckConstraint(
                condition=Q(credits__gt=0) & Q(price_cents__gt=0) & Q(requests_per_minute__gt=0),
                name="pack_gives_something",
            ),
            models.CheckConstraint(
                condition=Q(price_cents__lte=MAX_CENTS), name="pack_price_is_bounded"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.credits:,} credits"
