from django.contrib import admin
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.defaultfilters import pluralize

from accounts import audit
from accounts.staff.read_only import ReadOnlyAdmin
from accounts.staff.request import StaffRequest
from runtime.mail.outbox import Mail, MailQuerySet


class MailStateFilter(admin.SimpleListFilter):
    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        return [("waiting", "Waiting"), ("sent", "Sent"), ("given_up", "Given up")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Mail]) -> QuerySet[Mail]:
        if self.value() == "waiting":
            return queryset.filter(sent_at=None, given_up_at=None)
        if self.value() == "sent":
            return queryset.exclude(sent_at=None)
        if self.value() == "given_up":
            return queryset.exclude(given_up_at=None)
        return queryset


class MailAdmin(ReadOnlyAdmin):
    list_display = ("to", "subject", "created_at", "sent_at", "attempts", "last_error")
    list_filter = (MailStateFilter, "created_at")
    search_fields = ("to", "subject")
    fields = (
        *("to", "subject", "created_at", "next_attempt_at", "leased_until", "attempts"),
        *("last_error", "sent_at", "given_up_at"),
    )
    # Codes and links give access to accounts.
    exclude = ("text", "html")
    actions = ("send_again",)

    def has_send_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("runtime.change_mail")

    @admin.action(description="Resend emails that were given up", permissions=["send"])
    @transaction.atomic
    def send_again(self, request: StaffRequest, queryset: MailQuerySet) -> None:
        count = queryset.send_again()
        target = f"{count} email{pluralize(count)}"
        if count:
            audit.record(None, request.user, "mail.sent_again", target)
        self.message_user(request, f"{target} queued to be sent again.")


class LeaseAdmin(ReadOnlyAdmin):
    list_display = ("name", "holder", "until", "done_for")
