from typing import Any

from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.models import Group
from django.db import transaction
from django.db.models import ManyToManyField, QuerySet
from django.forms import ModelForm, ModelMultipleChoiceField
from django.http import HttpRequest

from accounts import audit
from accounts.staff.model_admins.checkboxes import Checkboxes, PermissionsField
from accounts.staff.model_admins.form_diff import describe_changes
from accounts.staff.request import staff_request


class GroupAdmin(DjangoGroupAdmin):
    filter_horizontal = ()

    def formfield_for_manytomany(
        self,
        db_field: ManyToManyField[Any, Any],
        request: HttpRequest | None = None,
        **options: Any,
    ) -> ModelMultipleChoiceField[Any] | None:
        options |= {"widget": Checkboxes("permissions"), "form_class": PermissionsField}
        return super().formfield_for_manytomany(db_field, request, **options)

    def save_model(
        self, request: HttpRequest, obj: Group, form: ModelForm[Group], change: bool
    ) -> None:
        super().save_model(request, obj, form, change)
        if changes := describe_changes(form):
            action = "group.changed" if change else "group.added"
            audit.record(None, staff_request(request).user, action, f"{obj}: {changes}")

    def delete_model(self, request: HttpRequest, obj: Group) -> None:
        audit.record(None, staff_request(request).user, "group.removed", str(obj))
        super().delete_model(request, obj)

    @transaction.atomic
    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Group]) -> None:
        for group in queryset:
            self.delete_model(request, group)
