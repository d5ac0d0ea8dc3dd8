from typing import Any

from django.contrib import admin
from django.core.paginator import Paginator
from django.http import HttpRequest
from django.utils.functional import cached_property


class FixedRows:
    """Part of an admin whose rows staff neither add nor delete."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


class ReadOnlyAdmin(FixedRows, admin.ModelAdmin[Any]):
    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Refuse to filter by hidden columns: prefix matches would reveal their values."""
        hidden = lookup.partition("__")[0] in (self.exclude or ())
        return not hidden and super().lookup_allowed(lookup, value, request)


class BoundedPaginator(Paginator[Any]):
    """Count no more rows than staff page through."""

    MAX_COUNT = 10_000

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        return len(rows.values_list("pk")[: self.MAX_COUNT])
