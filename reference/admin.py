from typing import Any, ClassVar

from django.contrib import admin
from django.db import models
from django.db.models import Max
from django.forms import ModelForm
from django.http import HttpRequest
from django.utils import timezone

from accounts import audit
from accounts.date_display import LocalDateTimeField
from accounts.staff.links import admin_list_url, link_cell
from accounts.staff.model_admins.form_diff import describe_changes
from accounts.staff.panels import MAX_ROWS, Cell, Link, Panel, require_staff_permissions
from accounts.staff.request import staff_request
from reference.models import Incident, IncidentUpdate


class IncidentUpdateInline(admin.StackedInline[IncidentUpdate, Incident]):
    model = IncidentUpdate
    extra, can_delete = 1, False
    readonly_fields = ("at",)


@admin.register(Incident)
class IncidentAdmin(admin.ModelAdmin[Incident]):
    """Customers have read incidents, so they aren't deleted."""

    # One labeled field, in place of Django's two.
    formfield_overrides: ClassVar[Any] = {
        models.DateTimeField: {
            "form_class": LocalDateTimeField,
            "widget": LocalDateTimeField.widget,
            "show_hidden_initial": False,
        }
    }
    inlines = (IncidentUpdateInline,)
    list_display = ("title", "impact", "started_at", "ended_at")

    def has_delete_permission(self, request: HttpRequest, obj: Incident | None = None) -> bool:
        return False

    def save_related(
        self, request: HttpRequest, form: ModelForm[Incident], formsets: Any, change: bool
    ) -> None:
        super().save_related(request, form, formsets, change)
        incident, (updates,), staff = form.instance, formsets, staff_request(request)
        newest = incident.updates.first()
        if newest and newest.state == IncidentUpdate.State.RESOLVED and not incident.is_over:
            incident.ended_at = max(newest.at, incident.started_at)
            incident.save()
        written = [*updates.new_objects, *(update for update, _ in updates.changed_objects)]
        if changes := "; ".join(filter(None, [*map(str, written), describe_changes(form)])):
            action = "incident.changed" if change else "incident.published"
            audit.record(None, staff.user, action, f"{incident}: {changes}")


@require_staff_permissions("reference.view_incident")
def incidents_panel() -> Panel:
    now = timezone.now()
    started = Incident.objects.filter(started_at__lte=now).order_by("started_at", "pk")
    incidents = started.exclude(ended_at__lte=now).annotate(updated_at=Max("updates__at"))
    return Panel(
        "Open incidents",
        "No incident is open.",
        columns=("Incident", "Started", "Last update"),
        rows=[
            [link_cell(each), Cell(each.started_at), Cell(each.updated_at)]
            for each in incidents[:MAX_ROWS]
        ],
        is_work=True,
        note="An update that says “Resolved” closes an incident.",
        more=Link("All incidents", admin_list_url(Incident)),
    )
