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
    """Edits staff domains. This worker applies them immediately, the others within seconds."""

    form = ListedDomainForm
    list_display = ("domain", "kind", "reason", "created_at")
    list_filter = ("kind",)
    search_fields = ("domain", "reason")

    def save_model(self, request: Any, obj: ListedDomain, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        target = f"{obj.domain}: {obj.get_kind_display()}, {obj.reason}"
        audit.record(None, request.user, "domain.listed", target, request.ip)
        transaction.on_commit(staff_domains.invalidate)

    def delete_model(self, request: Any, obj: ListedDomain) -> None:
        super().delete_model(request, obj)
        audit.record(None, request.user, "domain.unlisted", obj.domain, request.ip)
        transaction.on_commit(staff_domains.invalidate)

    @transaction.atomic
    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[ListedDomain]) -> None:
        for domain in queryset:
            self.delete_model(request, domain)
