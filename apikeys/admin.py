from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from accounts.staff.own_accounts import exclude_own_accounts
from accounts.staff.read_only import ReadOnlyAdmin
from apikeys import services
from apikeys.models import ApiKey, RefusalHour


@admin.register(ApiKey)
class ApiKeyAdmin(ReadOnlyAdmin):
    list_display = ("name", "display", "account", "state", "created_at", "last_used_at")
    list_filter = ("created_at", "last_used_at", "revoked_at")
    list_select_related = ("account",)
    search_fields = (
        *("name", "public_id", "first_four", "last_four"),
        *("account__name", "account__public_id", "account__memberships__user__email"),
    )
    search_help_text = "Name, key_…, first or last four characters, account or a member's email"
    exclude = ("digest", "form_token", "scopes")
    readonly_fields = ("access", "credits_used")
    actions = ("revoke",)

    @admin.display(description="credits this month")
    def credits_used(self, key: ApiKey) -> str:
        use = services.find_credit_use([key]).get(key.pk)
        return use.summary if use else "No limit"

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("apikeys.revoke_apikey")

    @admin.action(description="Revoke selected keys", permissions=["revoke"])
    def revoke(self, request: Any, keys: QuerySet[ApiKey]) -> None:
        keys = exclude_own_accounts(self, request, keys, "account")
        revoked = [
            key.name
            for key in keys.select_related("account")
            if services.revoke_key(key=key, actor=request.user)
        ]
        self.message_user(request, f"Revoked: {', '.join(revoked) or 'none'}.")


@admin.register(RefusalHour)
class RefusalHourAdmin(ReadOnlyAdmin):
    list_display = ("hour", "account", "key", "code", "calls")
    list_filter = ("hour", "code")
    list_select_related = ("account", "key")
    search_fields = ("account__name", "account__public_id", "key__public_id")
    search_help_text = "Account, acc_… or key_…"
    show_full_result_count = False
