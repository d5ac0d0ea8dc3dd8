from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone

from accounts.audit import queries
from accounts.audit.forms import AuditFilter
from accounts.permissions import require_permission
from accounts.presenters.elements import EmptyState
from accounts.presenters.log_pages import empty_log, log_links
from accounts.request import AccountRequest
from accounts.roles import TeamPermission
from runtime.csv_download import csv_response
from runtime.database.pagination import Cursor
from runtime.database.replica import reads_replica

PAGE = "accounts:show-audit-log"
NO_ENTRY_YET = EmptyState(
    "No entries yet.", "Sign-ins and changes of keys, team, billing, and settings will appear here."
)


@require_permission(TeamPermission.VIEW_AUDIT_LOG)
@reads_replica
def show_audit_log(request: AccountRequest) -> HttpResponse:
    form = AuditFilter(request.GET, request.account)
    before = Cursor.parse(request.GET.get("before", ""))
    context: dict[str, object] = {"form": form}
    if form.is_valid():
        page = queries.audit_page(request.account, form.audit_query, before)
        is_filtered = bool(form.query or before)
        context |= {
            "page": page,
            "links": log_links(page, form.query, is_first=before is None),
            "empty": empty_log(page, noun="entries", is_filtered=is_filtered, never=NO_ENTRY_YET),
        }
    return render(request, "accounts/show_audit_log.html", context)


@require_permission(TeamPermission.VIEW_AUDIT_LOG, form_page=PAGE)
def export_audit_log(request: AccountRequest) -> HttpResponseBase:
    """Export by POST, as the log records the export."""
    form = AuditFilter(request.POST, request.account)
    if not form.is_valid():
        # That page shows the errors.
        return redirect(f"{reverse(PAGE)}?{form.query}")
    lines = queries.export(
        account=request.account,
        query=form.audit_query,
        description=form.description,
        actor=request.user,
    )
    return csv_response(f"audit-log-{timezone.now():%Y-%m-%d}.csv", lines)
