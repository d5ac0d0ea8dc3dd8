"""Base classes for read-only admin pages."""

from typing import Any

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import Model
from django.forms import BaseInlineFormSet
from django.http import HttpRequest
from django.utils.functional import cached_property

from accounts.staff.readable import drop_empty, group_numbers


class ReadOnlyAdmin(admin.ModelAdmin[Any]):
    def get_list_display(self, request: HttpRequest) -> list[Any]:
        return group_numbers(self.model, super().get_list_display(request))

    def get_fieldsets(self, request: HttpRequest, obj: Model | None = None) -> Any:
        fieldsets = super().get_fieldsets(request, obj)
        if obj is None:
            return fieldsets
        return [
            (
                title,
                {
                    **options,
                    "fields": group_numbers(self.model, drop_empty(self, obj, options["fields"])),
                },
            )
            for title, options in fieldsets
        ]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Refuse filters on hidden columns: prefix matches would reveal their values."""
        hidden = lookup.partition("__")[0] in (self.exclude or ())
        return not hidden and super().lookup_allowed(lookup, value, request)


class _ReadOnlyRows(BaseInlineFormSet[Any, Any, Any]):
    """Ignores what is posted about rows that can't be changed, also how many there are."""

    def initial_form_count(self) -> int:
        return len(self.get_queryset())

    def total_form_count(self) -> int:
        return self.initial_form_count()

    def is_valid(self) -> bool:
        return True

    def save(self, commit: bool = True) -> list[Model]:
        self.new_objects, self.changed_objects, self.deleted_objects = [], [], []
        return []


class ReadOnlyInline(admin.TabularInline[Any, Any]):
    formset = _ReadOnlyRows
    extra = 0
    can_delete = False
    show_change_link = True
    template = "admin/fragments/rows.html"

    def get_fields(self, request: HttpRequest, obj: object = None) -> list[Any]:
        return group_numbers(self.model, super().get_fields(request, obj))

    def get_readonly_fields(self, request: HttpRequest, obj: object = None) -> list[Any]:
        return self.get_fields(request, obj)

    def has_add_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


class BoundedPaginator(Paginator[Any]):
    """Stops counting after as many rows as staff would ever page through."""

    MAX_COUNT = 10_000

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        return len(rows.values_list("pk")[: self.MAX_COUNT])
