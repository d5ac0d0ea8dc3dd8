"""The audit log as staff see it: all accounts, and what concerns none."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from accounts.audit.actions import GROUPS, Group, codes_of
from accounts.models import AuditEntry
from accounts.staff.read_only import BoundedPaginator, ReadOnlyAdmin


class GroupFilter(admin.SimpleListFilter):
    title = "what"
    parameter_name = "what"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(group.value, words) for group, words in GROUPS.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        chosen = self.value()
        return queryset.filter(action__in=codes_of(Group(chosen))) if chosen in GROUPS else queryset


class AuditEntryAdmin(ReadOnlyAdmin):
    """It grows for ever: nothing here sorts or counts all of it."""

    list_display = ("at", "account", "actor_name", "words", "target", "ip")
    list_filter = (GroupFilter, "by_staff", "at")
    list_select_related = ("account",)
    ordering = ("-pk",)
    sortable_by = ()
    paginator = BoundedPaginator
    show_full_result_count = False
    search_fields = ("actor_name", "action", "target", "account__public_id", "ip")
    search_help_text = "Who, what it was done to, acc_…, a network address, or key.created"

    @admin.display(description="what")
    def words(self, entry: AuditEntry) -> str:
        return entry.words
