"""Mail servers that staff look after: their pace, and whom we never ask."""

from django.conf import settings
from django.contrib import admin
from django.db import transaction
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest
from django.utils import timezone

from accounts import audit
from accounts.staff.panels import Cell, Panel, require_staff_permissions
from accounts.staff.read_only import ReadOnlyAdmin
from accounts.staff.request import staff_request
from validation.forms import UnprobedDomainForm
from validation.models import MailHostPace, Probe, UnprobedDomain

MAX_ORGANIZATIONS = 10


class MailHostPaceAdmin(ReadOnlyAdmin):
    list_display = (
        *("organization", "egress", "state", "rate", "conversations", "refusals"),
        *("last_reply", "last_reply_at"),
    )
    list_filter = ("is_off", "egress")
    search_fields = ("organization",)
    fields = (
        *("organization", "egress", "state", "rate", "next_at", "conversations", "refusals"),
        *("refusals_in_row", "cooling_until", "last_reply", "last_reply_at"),
    )
    actions = ("turn_off", "turn_on")

    def has_switch_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("validation.change_mailhostpace")

    @admin.display(description="state")
    def state(self, pace: MailHostPace) -> str:
        if pace.is_off:
            return "Off"
        return "Cooling down" if pace.is_cooling else "Asked"

    @admin.action(description="Stop asking the selected mail organizations", permissions=["switch"])
    def turn_off(self, request: HttpRequest, queryset: QuerySet[MailHostPace]) -> None:
        self._turn(request, queryset, is_off=True)

    @admin.action(description="Ask the selected mail organizations again", permissions=["switch"])
    def turn_on(self, request: HttpRequest, queryset: QuerySet[MailHostPace]) -> None:
        self._turn(request, queryset, is_off=False)

    @transaction.atomic
    def _turn(
        self, request: HttpRequest, queryset: QuerySet[MailHostPace], *, is_off: bool
    ) -> None:
        staff = staff_request(request)
        action = "mail_organization.off" if is_off else "mail_organization.on"
        for pace in queryset:
            audit.record(None, staff.user, action, str(pace))
        queryset.update(is_off=is_off, cooling_until=None, refusals_in_row=0)


class UnprobedDomainAdmin(admin.ModelAdmin[UnprobedDomain]):
    list_display = ("domain", "source", "note", "created_at")
    form = UnprobedDomainForm
    list_filter = ("source",)
    search_fields = ("domain", "note")

    def save_model(
        self,
        request: HttpRequest,
        obj: UnprobedDomain,
        form: ModelForm[UnprobedDomain],
        change: bool,
    ) -> None:
        super().save_model(request, obj, form, change)
        staff = staff_request(request)
        audit.record(None, staff.user, "domain.unprobed", obj.domain)

    def delete_model(self, request: HttpRequest, obj: UnprobedDomain) -> None:
        super().delete_model(request, obj)
        staff = staff_request(request)
        audit.record(None, staff.user, "domain.probed", obj.domain)

    @transaction.atomic
    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[UnprobedDomain]) -> None:
        for domain in queryset:
            self.delete_model(request, domain)


@require_staff_permissions("validation.view_mailhostpace")
def mailbox_checks_panel() -> Panel | None:
    if not settings.PROBE_MAILBOX_CHECKS:
        return None
    waiting = Probe.objects.waiting().count()
    cooling = MailHostPace.objects.filter(cooling_until__gt=timezone.now())
    return Panel(
        "Mailbox checks",
        f"{waiting:,} waiting. No mail organization is cooling down.",
        columns=("Mail organization", "Egress", "Cools down until", "Last reply"),
        rows=[
            [
                Cell(pace.organization),
                Cell(pace.egress),
                Cell(pace.cooling_until),
                Cell(pace.last_reply),
            ]
            for pace in cooling.order_by("-cooling_until")[:MAX_ORGANIZATIONS]
        ],
    )
