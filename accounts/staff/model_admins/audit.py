from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from accounts.audit.actions import LABELS_BY_GROUP, ActionGroup
from accounts.models import AuditEntry
from accounts.staff.read_only import BoundedPaginator, ReadOnlyAdmin


class ActionGroupFilter(admin.SimpleListFilter):
    title = "what"
    parameter_name = "what"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        return [*ActionGroup.choices]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[AuditEntry]
    ) -> QuerySet[AuditEntry]:
        labels = LABELS_BY_GROUP.get(self.value() or "")
        return queryset.filter(action__in=labels) if labels else queryset


class AuditEntryAdmin(ReadOnlyAdmin):
    """The table only grows, so nothing sorts or counts all of it."""

    list_display = ("at", "account", "actor_name", "action_label", "target", "ip")
    list_filter = (ActionGroupFilter, "by_staff", "at")
    list_select_related = ("account",)
    ordering = ("-pk",)
    sortable_by = ()
    paginator = BoundedPaginator
    show_full_result_count = False
    search_fields = ("actor_name", "action", "target", "account__public_id", "ip")
    search_help_text = "Actor, target, acc_…, IP address, or an action such as key.created"

    @admin.display(description="what")
    def action_label(self, entry: AuditEntry) -> str:
        return entry.action_label
