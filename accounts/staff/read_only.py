from typing import Any

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import Model
from django.forms import BaseInlineFormSet
from django.http import HttpRequest
from django.utils.functional import cached_property


class ReadOnlyAdmin(admin.ModelAdmin[Any]):
    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Refuse to filter by hidden columns: prefix matches would reveal their values."""
        hidden = lookup.partition("__")[0] in (self.exclude or ())
        return not hidden and super().lookup_allowed(lookup, value, request)


class _ReadOnlyRows(BaseInlineFormSet[Any, Any, Any]):
    """Ignore what is posted for these rows."""

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

    def has_add_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


class BoundedPaginator(Paginator[Any]):
    """Count no more rows than staff page through."""

    MAX_COUNT = 10_000

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        return len(rows.values_list("pk")[: self.MAX_COUNT])
