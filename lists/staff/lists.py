"""Staff see states and counts of lists, never rows."""

from contextlib import suppress

from django.contrib import admin, messages
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest

from accounts.models import Account
from accounts.staff.links import account_admin_list_url, account_cell, admin_list_url, link_cell
from accounts.staff.own_accounts import exclude_own_accounts
from accounts.staff.panels import MAX_ROWS, Cell, Fact, Link, Panel, require_staff_permissions
from accounts.staff.read_only import BoundedPaginator, ReadOnlyAdmin
from accounts.staff.request import StaffRequest
from apikeys.actor import Actor
from lists.lifecycle import InvalidState, cancel_list
from lists.models import AddressList
from lists.models.states import ListState

_COUNTED = ("Checked", "Deliverable", "Risky", "Undeliverable", "Unknown")
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
            actor = Actor(address_list.account, user=request.user)
            with suppress(InvalidState):
                cancel_list(address_list=address_list, actor=actor)
                canceled.append(address_list.public_id)
        level = messages.SUCCESS if canceled else messages.WARNING
        self.message_user(request, f"Canceled: {', '.join(canceled) or 'none'}.", level)


@require_staff_permissions("lists.view_addresslist", tab="Lists")
def account_lists_panel(account: Account) -> Panel:
    newest = AddressList.objects.filter(account=account).order_by("-created_at", "-pk")
    return Panel(
        "Latest lists",
        "No lists yet.",
        columns=("List", "State", "Addresses", *_COUNTED, "Created", "Finished"),
        rows=[
            [
                link_cell(each, each.public_id),
                Cell(each.state.capitalize(), tone="bad" if each.error_code else ""),
                Cell(each.addresses),
                *(Cell(getattr(each, name.lower())) for name in _COUNTED),
                Cell(each.created_at),
                Cell(each.finished_at),
            ]
            for each in newest[:MAX_ROWS]
        ],
        more=Link("All lists", account_admin_list_url(AddressList, account)),
    )


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
        "Stuck lists",
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
            Fact("Queued", Cell(counts["queued"], admin_list_url(AddressList, "?state=queued"))),
            Fact("Running", Cell(counts["running"], admin_list_url(AddressList, "?state=running"))),
            stuck_fact if counts["stuck"] else Fact("Stuck", Cell(0)),
        ],
        is_work=True,
        note="Stuck: no process has worked on it for 10 minutes.",
        more=Link("All lists", admin_list_url(AddressList)),
    )
