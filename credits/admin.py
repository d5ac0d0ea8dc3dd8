from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from accounts.models import Account, User
from accounts.staff.model_admins.accounts import AccountAdmin
from accounts.staff.pages import SETTINGS, account_tabs
from accounts.staff.read_only import ReadOnlyAdmin
from credits import models
from credits.models.wallets import WalletQuerySet
from credits.staff.action_admin import StaffActionsAdmin
from credits.staff.actions import ACCOUNT_ACTIONS, GRANT_ACTIONS
from credits.staff.catalog_admin import PackAdmin, PlanAdmin
from credits.staff.order_admin import OrderAdmin
from credits.staff.panels import usage_window_start
from credits.staff.search import ACCOUNT_SEARCH_FIELDS

admin.site.unregister(Account)


@admin.register(Account)
class CustomerAdmin(StaffActionsAdmin[Account], AccountAdmin):
    list_display = ("name", "public_id", "state", "plan", "balance", "created_at")
    list_filter = (*AccountAdmin.list_filter, "subscription__plan")
    list_select_related = ("wallet", "subscription__plan")
    staff_actions = ACCOUNT_ACTIONS
    change_form_template = "admin/credits/customer.html"

    def describe_actions(self, user: User, obj: Account) -> dict[str, Any]:
        tabs = account_tabs(user, obj, SETTINGS)
        return {**super().describe_actions(user, obj), "tabs": tabs}

    @admin.display(ordering="wallet__balance")
    def balance(self, account: Account) -> str:
        return f"{account.wallet.balance:,}"

    @admin.display(ordering="subscription__plan")
    def plan(self, account: Account) -> str:
        return str(account.subscription.plan)


@admin.register(models.LedgerEntry)
class LedgerAdmin(ReadOnlyAdmin):
    list_display = ("at", "account", "kind", "amount", "actor", "reason")
    list_filter = ("kind", "at")
    list_select_related = ("account",)
    search_fields = ("reason", "actor", "source", *ACCOUNT_SEARCH_FIELDS)
    date_hierarchy = "at"


@admin.register(models.StaffGrant)
class StaffGrantAdmin(StaffActionsAdmin[models.StaffGrant], ReadOnlyAdmin):
    list_display = ("requested_at", "account", "credits", "reason", "state", "requested_by")
    list_filter = ("state", "requested_at")
    list_select_related = ("account", "requested_by")
    search_fields = ("reason", "requested_by__email", "decided_by__email", *ACCOUNT_SEARCH_FIELDS)
    search_help_text = "Reason, staff user, account or a member's email"
    fields = (
        *("account", "credits", "reason", "state"),
        *("requested_by", "requested_at", "decided_by", "decided_at"),
    )
    staff_actions = GRANT_ACTIONS

    @admin.display(ordering="amount")
    def credits(self, grant: models.StaffGrant) -> str:
        return f"{grant.amount:,}"


class LowBalanceFilter(admin.SimpleListFilter):
    title = "balance"
    parameter_name = "dry"

    def lookups(
        self, request: HttpRequest, model_admin: admin.ModelAdmin[models.Wallet]
    ) -> list[tuple[str, str]]:
        return [("week", "Runs out within a week, or at the threshold")]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[models.Wallet]
    ) -> QuerySet[models.Wallet]:
        if self.value() and isinstance(queryset, WalletQuerySet):
            return queryset.running_low(usage_window_start())
        return queryset


@admin.register(models.Wallet)
class WalletAdmin(ReadOnlyAdmin):
    list_display = ("account", "balance", "held", "debt", "threshold")
    list_filter = (LowBalanceFilter,)
    list_select_related = ("account",)
    search_fields = ACCOUNT_SEARCH_FIELDS


@admin.register(models.Hold)
class HoldAdmin(ReadOnlyAdmin):
    list_display = ("held_at", "account", "amount", "charged", "remaining", "reason", "ended_at")
    list_filter = ("is_canceled", "held_at")
    list_select_related = ("account",)
    search_fields = ("reason", "source", *ACCOUNT_SEARCH_FIELDS)
    date_hierarchy = "held_at"


@admin.register(models.Subscription)
class SubscriptionAdmin(ReadOnlyAdmin):
    list_display = ("account", "plan", "next_plan", "started_on", "covered_until")
    list_filter = ("plan", "covered_until")
    list_select_related = ("account", "plan", "next_plan")
    search_fields = ACCOUNT_SEARCH_FIELDS


@admin.register(models.ProviderEvent)
class ProviderEventAdmin(ReadOnlyAdmin):
    list_display = ("at", "kind", "event_id")
    list_filter = ("kind", "at")
    search_fields = ("event_id",)


admin.site.register(models.Order, OrderAdmin)
admin.site.register(models.Plan, PlanAdmin)
admin.site.register(models.Pack, PackAdmin)
