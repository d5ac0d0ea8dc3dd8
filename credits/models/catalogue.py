"""What is sold: rows that staff edit. What was sold stands in each order as it was then."""

from typing import ClassVar

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q

from accounts import ids
from accounts.text import validate_line

MOST_CREDITS = 1_000_000_000
_CREDITS = [MinValueValidator(1), MaxValueValidator(MOST_CREDITS)]
_RATE = [MinValueValidator(1), MaxValueValidator(1_000_000)]
FREE = "free"


class PlanQuerySet(models.QuerySet["Plan"]):
    def free(self) -> "Plan":
        return self.get(code=FREE)

    def offered(self) -> "PlanQuerySet":
        return self.filter(is_offered=True)


class Plan(models.Model):
    code = models.SlugField(max_length=30, unique=True, help_text="Seen in the API; cannot change")
    name = models.CharField(max_length=40, validators=[validate_line])
    price_cents = models.PositiveIntegerField("price a month, cents, net")
    monthly_credits = models.PositiveIntegerField("credits a month", validators=_CREDITS)
    requests_per_minute = models.PositiveIntegerField("requests a minute", validators=_RATE)
    is_offered = models.BooleanField(
        "offered", default=True, help_text="Who has it keeps it, offered or not"
    )

    objects: ClassVar[PlanQuerySet] = PlanQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ["price_cents", "pk"]
        constraints = [
            models.CheckConstraint(
                # What costs nothing and has another name would be given by no rule.
                condition=Q(code=FREE, price_cents=0) | ~Q(code=FREE) & Q(price_cents__gt=0),
                name="only_free_costs_nothing",
            ),
            models.CheckConstraint(
                condition=Q(monthly_credits__gt=0) & Q(requests_per_minute__gt=0),
                name="plan_gives_something",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_free(self) -> bool:
        return self.code == FREE

    @property
    def usual_threshold(self) -> int:
        """Below it a balance is low, unless the account chose a threshold of its own."""
        return max(10, self.monthly_credits // 10)


class PackQuerySet(models.QuerySet["Pack"]):
    def offered(self) -> "PackQuerySet":
        return self.filter(is_offered=True)


class Pack(models.Model):
    public_id = models.CharField(max_length=30, unique=True, editable=False, default=ids.pack_id)
    credits = models.PositiveIntegerField(unique=True, validators=_CREDITS)
    price_cents = models.PositiveIntegerField(
        "price, cents, net", validators=[MinValueValidator(1)]
    )
    requests_per_minute = models.PositiveIntegerField("requests a minute", validators=_RATE)
    is_offered = models.BooleanField("offered", default=True)

    objects: ClassVar[PackQuerySet] = PackQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ["credits"]
        constraints = [
            models.CheckConstraint(
                condition=Q(credits__gt=0) & Q(price_cents__gt=0) & Q(requests_per_minute__gt=0),
                name="pack_gives_something",
            )
        ]

    def __str__(self) -> str:
        return f"{self.credits:,} credits"
