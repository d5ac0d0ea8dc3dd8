from typing import Any

from django.contrib import admin
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest

from accounts import audit
from validation.domain_data import staff_domains
from validation.forms import ListedDomainForm
from validation.models import ListedDomain, LogEntry
from validation.staff.request_log import LogEntryAdmin

admin.site.register(LogEntry, LogEntryAdmin)


@admin.register(ListedDomain)
class ListedDomainAdmin(admin.ModelAdmin[ListedDomain]):
    """Effective in the worker that took it at once, in every other within seconds."""

    form = ListedDomainForm
    list_display = ("domain", "kind", "reason", "created_at")
    list_filter = ("kind",)
    search_fields = ("domain", "reason")

    def save_model(self, request: Any, obj: ListedDomain, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        said = f"{obj.domain}: {obj.get_kind_display()}, {obj.reason}"
        audit.record(None, request.user, "domain.listed", said, request.ip)
        transaction.on_commit(staff_domains.forget)

    def delete_model(self, request: Any, obj: ListedDomain) -> None:
        super().delete_model(request, obj)
        audit.record(None, request.user, "domain.unlisted", obj.domain, request.ip)
        transaction.on_commit(staff_domains.forget)

    @transaction.atomic
    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[ListedDomain]) -> None:
        for listed in queryset:
            self.delete_model(request, listed)
