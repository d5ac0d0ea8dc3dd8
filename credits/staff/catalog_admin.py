from decimal import Decimal
from typing import Any, TypeVar

from django.conf import settings
from django.contrib import admin
from django.db.models import Field
from django.forms import DecimalField, ModelForm
from django.http import HttpRequest
from django.template.defaultfilters import pluralize

from accounts import audit
from accounts.staff.model_admins.form_diff import describe_changes
from accounts.staff.request import staff_request
from credits.models import Pack, Plan
from credits.plans import changes
from credits.presenters.prices import format_price

Item = TypeVar("Item", bound=Plan | Pack)


class PriceField(DecimalField):
    def __init__(self, label: str) -> None:
        label = f"{label} ({settings.CURRENCY}, net)"
        super().__init__(label=label, min_value=0, decimal_places=2)

    def prepare_value(self, value: Any) -> Any:
        return Decimal(value).scaleb(-2) if isinstance(value, int) else value

    def clean(self, value: Any) -> Any:
        return int(super().clean(value) * 100)

    def has_changed(self, initial: Any, data: Any) -> bool:
        return super().has_changed(self.prepare_value(initial), data)


class CatalogAdmin(admin.ModelAdmin[Item]):
    """Let staff withdraw plans and packs, but not delete them: orders refer to them."""

    price_label = "Price"

    def formfield_for_dbfield(
        self, db_field: Field[Any, Any], request: HttpRequest, **options: Any
    ) -> Any:
        if db_field.name == "price_cents":
            return PriceField(self.price_label)
        return super().formfield_for_dbfield(db_field, request, **options)

    @admin.display(ordering="requests_per_minute", description="requests per minute")
    def limit(self, item: Item) -> str:
        return f"{item.requests_per_minute:,}"

    def has_delete_permission(self, request: HttpRequest, obj: Item | None = None) -> bool:
        return False

    def save_model(
        self, request: HttpRequest, obj: Item, form: ModelForm[Item], change: bool
    ) -> None:
        super().save_model(request, obj, form, change)
        if changed := describe_changes(form):
            action = f"{obj._meta.model_name}.{'changed' if change else 'added'}_by_staff"
            audit.record(None, staff_request(request).user, action, f"{obj}: {changed}")


class PlanAdmin(CatalogAdmin[Plan]):
    price_label = "Price per month"
    list_display = (*("name", "code", "price", "credits_per_month", "limit", "is_offered"),)

    @admin.display(ordering="price_cents", description="price per month")
    def price(self, plan: Plan) -> str:
        return format_price(plan.price_cents)

    @admin.display(ordering="monthly_credits")
    def credits_per_month(self, plan: Plan) -> str:
        return f"{plan.monthly_credits:,}"

    def get_readonly_fields(self, request: HttpRequest, obj: Plan | None = None) -> tuple[str, ...]:
        """Protect the code, which API clients read. Free stays free and offered."""
        if obj is None:
            return ()
        return ("code", "price", "is_offered") if obj.is_free else ("code",)

    def get_exclude(self, request: HttpRequest, obj: Plan | None = None) -> tuple[str, ...]:
        return ("price_cents",) if obj and obj.is_free else ()

    def save_model(
        self, request: HttpRequest, obj: Plan, form: ModelForm[Plan], change: bool
    ) -> None:
        super().save_model(request, obj, form, change)
        new_terms = {"requests_per_minute", "monthly_credits"} & {*form.changed_data}
        account_count = changes.apply_plan_changes(obj) if change and new_terms else 0
        if account_count:
            self.message_user(
                request,
                f"{account_count:,} account{pluralize(account_count)} on this plan: the new rate "
                "limit applies now, the new price and credits from the next month.",
            )


class PackAdmin(CatalogAdmin[Pack]):
    list_display = ("__str__", "price", "limit", "is_offered")

    @admin.display(ordering="price_cents")
    def price(self, pack: Pack) -> str:
        return format_price(pack.price_cents)
