"""Show what staff search in the log, whose millions of rows are never listed."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import URLPattern, path, reverse

from accounts.date_display import exact_time
from accounts.staff.links import account_hit
from accounts.staff.panels import MAX_ROWS, SearchResults, require_staff_permissions
from accounts.staff.read_only import BoundedPaginator, ReadOnlyAdmin
from accounts.staff.request import StaffRequest
from validation.addresses import address_hash
from validation.erasure import count_rows, erase_address, parse_and_mask
from validation.forms import AddressForm
from validation.models import LogEntry
from validation.request_log.filters import REQUEST_ID

MAX_SHOWN = 100
CHANGELIST = "admin:validation_logentry_changelist"


class LogEntryAdmin(ReadOnlyAdmin):
    """Finds requests by id, or by an address in a form, so that no URL contains it."""

    list_display = (
        *("at", "account", "key", "status", "refusal", "verdict", "reason", "address", "cost"),
        "request_id",
    )
    list_select_related = ("account", "key")
    list_per_page = MAX_SHOWN
    ordering = ("-pk",)
    sortable_by = ()
    paginator = BoundedPaginator
    search_fields = ("result_id",)
    search_help_text = "Full result ID (val_…) or request ID. Search to see requests."
    exclude = ("address_hash",)
    show_full_result_count = False

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[LogEntry], search_term: str
    ) -> tuple[QuerySet[LogEntry], bool]:
        if not search_term:
            return queryset.none(), False
        ids = LogEntry.objects.matching_id(search_term).order_by("-pk").values_list("pk", flat=True)
        # Evaluated, so that the list sorts and filters only these.
        return queryset.filter(pk__in=list(ids[:MAX_SHOWN])), False

    def get_urls(self) -> list[URLPattern]:
        guard = self.admin_site.admin_view
        return [
            path("find/", guard(self.find_address), name="validation_logentry_find"),
            path("erase/", guard(self.erase_address), name="validation_logentry_erase"),
            *super().get_urls(),
        ]

    def find_address(self, request: StaffRequest) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied("Your staff group can't view requests.")
        form = AddressForm(request.POST or None)
        context = {
            **self.admin_site.each_context(request),
            "title": "Find or erase an address",
            "opts": self.opts,
            "form": form,
            "can_erase": _can_erase(request),
        }
        if form.is_valid():
            email = form.cleaned_data["email"]
            rows = count_rows(email=email, account=None)
            query = {"q": address_hash(email)}
            context |= {"email": email, "rows": rows, "rows_url": reverse(CHANGELIST, query=query)}
        return render(request, "admin/validation/find_address.html", context)

    def erase_address(self, request: StaffRequest) -> HttpResponse:
        if not _can_erase(request):
            raise PermissionDenied(
                "Your staff group can't erase addresses. Ask a colleague whose group can."
            )
        form = AddressForm(request.POST or None)
        if form.is_valid():
            email = form.cleaned_data["email"]
            count = erase_address(email=email, account=None, actor=request.user)
            messages.success(request, f"Erased {parse_and_mask(email)} ({count:,} rows).")
        return redirect("admin:validation_logentry_find")


def _can_erase(request: StaffRequest) -> bool:
    return bool(request.user.has_perm("validation.erase_address"))


@require_staff_permissions("validation.view_logentry", "accounts.view_account")
def find_requests(text: str) -> SearchResults:
    if not REQUEST_ID.fullmatch(text):
        return SearchResults("Requests", [])
    # A client may send one id with all its requests. The index has this order.
    entries = LogEntry.objects.matching_id(text).order_by("-account_id", "-at")
    hits = [
        account_hit(
            entry,
            entry.request_id,
            f"{entry.status} {entry.verdict or entry.refusal or 'OK'}, {exact_time(entry.at)}",
        )
        for entry in entries.select_related("account")[:MAX_ROWS]
    ]
    return SearchResults("Requests", hits)
