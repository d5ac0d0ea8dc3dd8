"""Staff see states and counts of lists, never rows."""

from contextlib import suppress

from django.contrib import admin, messages
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest

from accounts.staff.own_accounts import exclude_own_accounts
from accounts.staff.panels import (
    MAX_ROWS,
    Cell,
    Fact,
    Link,
    Panel,
    account_cell,
    admin_list_url,
    link_cell,
    require_staff_permissions,
)
from accounts.staff.read_only import BoundedPaginator, ReadOnlyAdmin
from accounts.staff.request import StaffRequest
from apikeys.actor import Actor
from lists.lifecycle import InvalidState, cancel_list
from lists.models import AddressList
from lists.models.states import ListState

_ADVICE = "Start list processes: `manage.py run_lists`. If they are running, see their log."


class ListStateFilter(admin.SimpleListFilter):
    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        return [
            ("stuck", "Stuck"),
            *((state.value, state.value.capitalize()) for state in ListState),
        ]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[AddressList]
    ) -> QuerySet[AddressList]:
        if self.value() == "stuck":
            return queryset.filter(pk__in=AddressList.objects.stuck())
        return queryset.filter(state=self.value()) if self.value() else queryset


class AddressListAdmin(ReadOnlyAdmin):
    list_display = ("public_id", "account", "state", "addresses", "checked", "created_at")
    list_filter = (ListStateFilter, "created_at")
    list_select_related = ("account",)
    search_fields = ("public_id", "account__public_id", "account__name")
    search_help_text = "lst_…, account or acc_…"
    fields = (
        *("public_id", "name", "account", "key", "created_by"),
        *("state", "error_code", "error_message"),
        *("bytes", "rows", "empty", "not_address", "bad_syntax", "duplicates", "addresses"),
        *("sandbox_addresses", "domains"),
        *("hold", "max_credits", "checked", "deliverable", "risky", "undeliverable", "unknown"),
        *("content_type", "delimiter", "has_header", "column", "dedupe", "is_confirmed"),
        *("starts_when_ready", "rechecks_unknown", "rechecks", "recheck_at", "metadata"),
        *("created_at", "started_at", "results_at", "paused_at", "finished_at"),
        *("expires_at", "deleted_at", "updated_at", "served_at", "leased_until", "attempts"),
    )
    readonly_fields = ("public_id",)
    paginator = BoundedPaginator
    show_full_result_count = False
    actions = ("cancel",)

    def has_cancel_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("lists.change_addresslist")

    @admin.action(description="Cancel selected lists", permissions=["cancel"])
    def cancel(self, request: StaffRequest, lists: QuerySet[AddressList]) -> None:
        lists = exclude_own_accounts(self, request, lists, "account")
        canceled = []
        for address_list in lists.select_related("account"):
            actor = Actor(address_list.account, user=request.user, ip=request.ip)
            with suppress(InvalidState):
                cancel_list(address_list=address_list, actor=actor)
                canceled.append(address_list.public_id)
        level = messages.SUCCESS if canceled else messages.WARNING
        self.message_user(request, f"Canceled: {', '.join(canceled) or 'none'}.", level)


@require_staff_permissions("lists.view_addresslist", "accounts.view_account")
def lists_panel() -> Panel:
    counts = AddressList.objects.unfinished().aggregate(
        queued=Count("pk", filter=Q(state=ListState.QUEUED)),
        running=Count("pk", filter=Q(state=ListState.RUNNING)),
        stuck=Count("pk", filter=Q(pk__in=AddressList.objects.stuck())),
    )
    stuck = AddressList.objects.stuck().select_related("account").order_by("updated_at", "pk")
    stuck_cell = Cell(counts["stuck"], admin_list_url(AddressList, "?state=stuck"), "bad")
    stuck_fact = Fact("Stuck", stuck_cell, _ADVICE)
    return Panel(
        "Lists",
        "No list is stuck.",
        columns=("List", "Account", "State", "Checked", "Addresses", "Last served"),
        rows=[
            [
                link_cell(address_list, address_list.public_id),
                account_cell(address_list.account),
                Cell(str(address_list.state)),
                Cell(address_list.checked),
                Cell(address_list.addresses),
                Cell(address_list.served_at),
            ]
            for address_list in stuck[:MAX_ROWS]
        ],
        facts=[
            _state_fact(ListState.QUEUED, counts["queued"]),
            _state_fact(ListState.RUNNING, counts["running"]),
            stuck_fact if counts["stuck"] else Fact("Stuck", Cell(0)),
        ],
        note="Stuck: no process has worked on it for 10 minutes.",
        more=Link("All lists", admin_list_url(AddressList)),
    )


def _state_fact(state: ListState, count: int) -> Fact:
    return Fact(state.capitalize(), Cell(count, admin_list_url(AddressList, f"?state={state}")))
