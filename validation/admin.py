from django.contrib import admin
from django.db import transaction
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest

from accounts import audit
from accounts.staff.request import staff_request
from validation.domain_data import staff_domains
from validation.forms import ListedDomainForm
from validation.models import (
    AccountDomains,
    Feedback,
    ListedDomain,
    LogEntry,
    MailHostPace,
    NewMailHost,
    UnprobedDomain,
)
from validation.staff.domains import AccountDomainsAdmin
from validation.staff.feedback import FeedbackAdmin
from validation.staff.mail_hosts import NewMailHostAdmin
from validation.staff.mailbox_checks import MailHostPaceAdmin, UnprobedDomainAdmin
from validation.staff.request_log import LogEntryAdmin

admin.site.register(LogEntry, LogEntryAdmin)
admin.site.register(AccountDomains, AccountDomainsAdmin)
admin.site.register(Feedback, FeedbackAdmin)
admin.site.register(NewMailHost, NewMailHostAdmin)
admin.site.register(MailHostPace, MailHostPaceAdmin)
admin.site.register(UnprobedDomain, UnprobedDomainAdmin)


@admin.register(ListedDomain)
class ListedDomainAdmin(admin.ModelAdmin[ListedDomain]):
    """Changes apply here immediately, and in other workers within seconds."""

    form = ListedDomainForm
    list_display = ("domain", "kind", "reason", "created_at")
    list_filter = ("kind",)
    search_fields = ("domain", "reason")

    def save_model(
        self, request: HttpRequest, obj: ListedDomain, form: ModelForm[ListedDomain], change: bool
    ) -> None:
        super().save_model(request, obj, form, change)
        staff = staff_request(request)
        target = f"{obj.domain}: {obj.get_kind_display()}, {obj.reason}"
        audit.record(None, staff.user, "domain.listed", target)
        transaction.on_commit(staff_domains.invalidate)

    def delete_model(self, request: HttpRequest, obj: ListedDomain) -> None:
        super().delete_model(request, obj)
        staff = staff_request(request)
        audit.record(None, staff.user, "domain.unlisted", obj.domain)
        transaction.on_commit(staff_domains.invalidate)

    @transaction.atomic
    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[ListedDomain]) -> None:
        for domain in queryset:
            self.delete_model(request, domain)
