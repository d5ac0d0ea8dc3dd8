"""Staff groups in the admin. Every change of a group leaves an audit entry."""

from typing import Any

from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.models import Group
from django.db import transaction
from django.db.models import QuerySet

from accounts import audit
from accounts.staff.form_diff import describe_changes


class GroupAdmin(DjangoGroupAdmin):
    def save_model(self, request: Any, obj: Group, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if changes := describe_changes(form):
            action = "group.changed" if change else "group.added"
            audit.record(None, request.user, action, f"{obj}: {changes}", request.ip)

    def delete_model(self, request: Any, obj: Group) -> None:
        audit.record(None, request.user, "group.removed", str(obj), request.ip)
        super().delete_model(request, obj)

    @transaction.atomic
    def delete_queryset(self, request: Any, queryset: QuerySet[Group]) -> None:
        for group in queryset:
            self.delete_model(request, group)
