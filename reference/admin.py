from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.db import models
from django.forms import ModelForm
from django.http import HttpRequest

from accounts import audit
from accounts.staff.model_admins.form_diff import describe_changes
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
            "form_class": forms.DateTimeField,
            "widget": forms.DateTimeInput({"type": "datetime-local"}, "%Y-%m-%dT%H:%M"),
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
