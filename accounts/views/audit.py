"""Settings → Audit log: who did what in the account."""

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from accounts.audit import queries
from accounts.audit.forms import AuditFilter
from accounts.permissions import form_on_page, require_permission
from accounts.request import AccountRequest
from accounts.roles import TeamPermission
from runtime.csv_download import csv_response
from runtime.database.pagination import Cursor

PAGE = "accounts:show-audit-log"


@require_safe
@require_permission(TeamPermission.SEE_AUDIT_LOG)
def show_audit_log(request: AccountRequest) -> HttpResponse:
    form = AuditFilter(request.GET, request.account)
    before = Cursor.parse(request.GET.get("before", ""))
    page = None
    if form.is_valid():
        page = queries.audit_page(request.account, form.wanted, before)
    context = {"form": form, "page": page, "is_first": before is None}
    return render(request, "accounts/show_audit_log.html", context)


@form_on_page(PAGE)
@require_permission(TeamPermission.SEE_AUDIT_LOG)
def export_audit_log(request: AccountRequest) -> HttpResponseBase:
    """A form and no link: it leaves an entry."""
    form = AuditFilter(request.POST, request.account)
    if not form.is_valid():
        # Which says what is wrong with it.
        return redirect(f"{reverse(PAGE)}?{form.query}")
    lines = queries.export(
        account=request.account,
        wanted=form.wanted,
        words=form.in_words,
        actor=request.user,
        ip=request.ip,
    )
    return csv_response(f"audit-log-{timezone.now():%Y-%m-%d}.csv", lines)
