from typing import ClassVar, cast

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db.models import Model, QuerySet
from django.forms import ModelForm
from django.http import HttpRequest

from accounts import audit, services
from accounts.models import Account
from accounts.staff.links import account_link
from accounts.staff.model_admins.form_diff import describe_changes
from accounts.staff.own_accounts import exclude_own_accounts, own_account_refusal
from accounts.staff.read_only import FixedRows, ReadOnlyAdmin
from accounts.staff.request import StaffRequest, staff_request


class AccountStateFilter(admin.SimpleListFilter):
    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        return [("open", "Open"), ("suspended", "Suspended"), ("closed", "Closed")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Account]) -> QuerySet[Account]:
        if self.value() == "open":
            return queryset.filter(closed_at=None, suspended_at=None)
        if self.value() == "suspended":
            return queryset.filter(closed_at=None).exclude(suspended_at=None)
        if self.value() == "closed":
            return queryset.exclude(closed_at=None)
        return queryset


class AccountList(ChangeList):
    def url_for_result(self, result: Model) -> str:
        return account_link(cast(Account, result)).url


class AccountAdmin(FixedRows, admin.ModelAdmin[Account]):
    list_display: tuple[str, ...] = ("name", "public_id", "state", "created_at")
    list_filter: ClassVar[tuple[type[admin.ListFilter] | str, ...]] = (
        AccountStateFilter,
        "created_at",
    )
    search_fields = ("name", "public_id", "memberships__user__email")
    search_help_text = "Account name, acc_…, or a member's email"
    date_hierarchy = "created_at"
    readonly_fields = (
        *("requests_per_minute", "log_days", "second_factor_required_at", "closed_at", "erased_at"),
    )
    # Suspending needs a reason: see credits/staff/actions.py.
    actions = ("lift_suspension", "reopen")

    def get_changelist(self, request: HttpRequest, **kwargs: object) -> type[ChangeList]:
        return AccountList

    def has_change_permission(self, request: HttpRequest, obj: Account | None = None) -> bool:
        user = staff_request(request).user
        is_own = obj is not None and bool(own_account_refusal(user, obj))
        return not is_own and super().has_change_permission(request, obj)

    def save_model(
        self, request: HttpRequest, obj: Account, form: ModelForm[Account], change: bool
    ) -> None:
        # Other columns may have changed since they were read.
        obj.save(update_fields=form.changed_data)
        if changes := describe_changes(form):
            audit.record(obj, staff_request(request).user, "account.changed_by_staff", changes)

    def has_suspend_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("accounts.suspend_account")

    @admin.action(description="Lift suspension", permissions=["suspend"])
    def lift_suspension(self, request: StaffRequest, accounts: QuerySet[Account]) -> None:
        accounts = exclude_own_accounts(self, request, accounts, "pk")
        for account in accounts:
            services.lift_suspension(account=account, actor=request.user)
        self.message_user(request, f"Suspension lifted: {_names(accounts)}.")

    @admin.action(description="Reopen closed accounts", permissions=["suspend"])
    def reopen(self, request: StaffRequest, accounts: QuerySet[Account]) -> None:
        accounts = exclude_own_accounts(self, request, accounts, "pk")
        for account in accounts:
            services.reopen_account(account=account, actor=request.user)
        self.message_user(request, f"Reopened: {_names(accounts.filter(closed_at=None))}.")


class InvitationAdmin(ReadOnlyAdmin):
    list_display = ("email", "account", "role", "created_at", "expires_at", "accepted_at")
    list_select_related = ("account",)
    search_fields = ("email", "account__name", "account__public_id")
    exclude = ("token",)


def _names(accounts: QuerySet[Account]) -> str:
    return ", ".join(account.name for account in accounts) or "none"
