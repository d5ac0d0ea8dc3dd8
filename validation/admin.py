from django.contrib import admin

from accounts.admin import ReadOnlyAdmin
from validation.models import LogEntry


@admin.register(LogEntry)
class LogEntryAdmin(ReadOnlyAdmin):
    """The request log. Addresses are masked in it; a customer names a val_… or req_… to support."""

    list_display = (
        *("at", "account", "key", "status", "refusal", "verdict", "reason", "address", "cost"),
        "request_id",
    )
    list_filter = ("status", "verdict", "sandbox", "replayed", "at")
    list_select_related = ("account", "key")
    search_fields = ("request_id", "result_id", "domain", "account__public_id", "key__public_id")
    search_help_text = "req_…, val_…, domain, acc_… or key_…"
    exclude = ("address_hash",)
    show_full_result_count = False
