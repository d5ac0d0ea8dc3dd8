"""The request log as staff see it. It has millions of rows: nothing here counts, sorts or filters
all of them, and none is shown until somebody names one."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.functional import cached_property

from accounts.staff.read_only import ReadOnlyAdmin
from validation.addresses import address_hash
from validation.forms import AddressForm
from validation.models import LogEntry
from validation.request_log.erasure import count_rows, erase_address, masked_address

SHOWN = 100
LIST = "admin:validation_logentry_changelist"


class OnePage(Paginator[Any]):
    """Counts what it shows."""

    @cached_property
    def count(self) -> int:
        return len(self.object_list[: self.per_page])


class LogEntryAdmin(ReadOnlyAdmin):
    """A customer names a val_… or req_… to support. Addresses are masked; who knows a whole one
    finds it by a form of its own, so that it stands in no address of a page."""

    list_display = (
        *("at", "account", "key", "status", "refusal", "verdict", "reason", "address", "cost"),
        "request_id",
    )
    list_select_related = ("account", "key")
    list_per_page = SHOWN
    ordering = ("-pk",)
    sortable_by = ()
    paginator = OnePage
    # Shows the field. What is looked for: get_search_results.
    search_fields = ("result_id",)
    search_help_text = "A whole val_… or request id. Nothing is shown until you search."
    exclude = ("address_hash",)
    show_full_result_count = False

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        if not search_term:
            return queryset.none(), False
        found = LogEntry.objects.named(search_term).order_by("-pk").values_list("pk", flat=True)
        # Read first: what the list does to them then, it does to these few.
        return queryset.filter(pk__in=list(found[:SHOWN])), False

    def get_urls(self) -> list[Any]:
        guard = self.admin_site.admin_view
        return [
            path("find/", guard(self.find_address), name="validation_logentry_find"),
            path("erase/", guard(self.erase_address), name="validation_logentry_erase"),
            *super().get_urls(),
        ]

    def find_address(self, request: Any) -> HttpResponse:
        """Where it stands, and the button that erases it."""
        if not self.has_view_permission(request):
            raise PermissionDenied("Your group does not look at requests.")
        form = AddressForm(request.POST or None)
        context = {
            **self.admin_site.each_context(request),
            "title": "Find or erase an address",
            "opts": self.opts,
            "form": form,
            "may_erase": _may_erase(request),
        }
        if form.is_valid():
            email = form.cleaned_data["email"]
            found = count_rows(email=email, account=None)
            query = {"q": address_hash(email)}
            context |= {"email": email, "found": found, "rows": reverse(LIST, query=query)}
        return render(request, "admin/validation/find_address.html", context)

    def erase_address(self, request: Any) -> HttpResponse:
        if not _may_erase(request):
            raise PermissionDenied("Your group does not do this. Ask a colleague who may.")
        form = AddressForm(request.POST or None)
        if form.is_valid():
            email = form.cleaned_data["email"]
            gone = erase_address(email=email, account=None, actor=request.user, ip=request.ip)
            messages.success(request, f"Erased {masked_address(email)}: {gone:,} rows.")
        return redirect("admin:validation_logentry_find")


def _may_erase(request: Any) -> bool:
    return bool(request.user.has_perm("validation.erase_address"))
