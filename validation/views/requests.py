from django.contrib import messages
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from accounts.permissions import redirect_get_to, require_permission
from accounts.presenters.log_pages import empty_log, log_links
from accounts.request import AccountRequest
from accounts.roles import TeamPermission
from apikeys.crypto import contains_secret
from apikeys.errors import REFUSALS
from engine import CHECKS
from runtime.csv_download import csv_response
from runtime.database.pagination import Cursor
from runtime.dates import from_microseconds
from validation.addresses import address_hash, unpack_account_list, unpack_checks
from validation.ids import BATCH_ID, normalize_result_id, result_created_at
from validation.models import LogEntry
from validation.playground import format_json
from validation.presenters.checks import group_checks
from validation.presenters.domains import account_list_note
from validation.presenters.feedback import present_feedback
from validation.presenters.mailbox_checks import describe_mailbox_check
from validation.presenters.requests import (
    explain_reason,
    format_cost,
    format_score,
    never_logged,
    request_data,
    request_intro,
    response_data,
    search_notice,
    stored_note,
)
from validation.presenters.retention import format_days
from validation.request_log import csv_export, search
from validation.request_log.filters import REQUEST_ID, LogFilter
from validation.request_log.suggestions import suggest_for_entry
from validation.results import stored_results

PAGE = "validation:show-requests"


@require_safe
@require_permission(TeamPermission.VIEW_ACCOUNT)
def show_requests(request: AccountRequest) -> HttpResponse:
    form = LogFilter(request.GET, request.account)
    before = Cursor.parse(request.GET.get("before", ""))
    days = request.account.log_retention_days
    context = {
        "form": form,
        "days": days,
        "retention": format_days(days),
        "notice": search_notice(form),
    }
    if form.is_valid():
        page = search.log_page(request.account, form.log_query, before)
        search.mark_pending(page.entries)
        is_filtered, never = bool(form.query or before), never_logged(days)
        context |= {
            "page": page,
            "links": log_links(page, form.query, is_first=before is None),
            "empty": empty_log(page, noun="requests", is_filtered=is_filtered, never=never),
        }
    return render(request, "validation/show_requests.html", context)


@redirect_get_to(PAGE)
@require_permission(TeamPermission.VIEW_ACCOUNT)
def export_requests(request: AccountRequest) -> HttpResponseBase:
    """Export the filtered requests. Needs a POST because the audit log records it."""
    form = LogFilter(request.POST, request.account)
    if not form.is_valid():
        return redirect(f"{reverse(PAGE)}?{form.query}")
    rows = csv_export.export(
        account=request.account,
        query=form.log_query,
        description=form.description,
        actor=request.user,
        ip=request.ip,
    )
    return csv_response(f"requests-{timezone.now():%Y-%m-%d}.csv", rows)


@redirect_get_to(PAGE)
@require_permission(TeamPermission.VIEW_ACCOUNT)
def find_request(request: AccountRequest) -> HttpResponse:
    """Redirect to the matching requests. The URL has an address only as a hash."""
    text = request.POST.get("text", "").strip()
    page, result_id = reverse(PAGE), normalize_result_id(text)
    # Invalid addresses are validated too, so any text may be one.
    found: str | LogEntry = f"{page}?address={address_hash(text)}" if text else page
    if contains_secret(text):
        messages.error(request, "That's an API key. Rotate it, and filter by its name instead.")
        found = page
    elif BATCH_ID.fullmatch(result_id):
        found = f"{page}?batch={result_id}"
    elif result_created_at(result_id):
        entry = search.find_result(request.account, result_id)
        if entry is None:
            messages.error(request, f"No stored request has the result ID {result_id}.")
        found = entry or page
    elif REQUEST_ID.fullmatch(text) and search.has_request(request.account, text):
        found = f"{page}?request={text}"
    return redirect(found)


@require_safe
@require_permission(TeamPermission.VIEW_ACCOUNT)
def show_request(request: AccountRequest, request_id: str, moment: int) -> HttpResponse:
    at = from_microseconds(str(moment))
    entry = at and search.find_entry(request.account, request_id, at)
    if not entry:
        raise Http404("This request doesn't exist or is no longer stored.")
    result = stored_results.find_result(request.account, entry.result_id, balance=0)
    suggestion = suggest_for_entry(entry)
    context = {
        "entry": entry,
        "intro": request_intro(entry),
        "score": format_score(entry),
        "cost": format_cost(entry),
        "meaning": explain_reason(entry, suggestion),
        "refusal": REFUSALS.get(entry.refusal),
        "suggestion": suggestion,
        "list_note": account_list_note(unpack_account_list(entry.checks), entry.verdict),
        "checks": group_checks(unpack_checks(entry.checks, CHECKS)) if entry.verdict else [],
        "mailbox_check": describe_mailbox_check(result["smtp"])
        if result and result["smtp"]
        else [],
        "feedback": present_feedback(request.account, entry),
        "request_json": format_json(request_data(entry)),
        "response_json": format_json(response_data(entry)),
        "stored_note": stored_note(is_result=bool(entry.verdict)),
    }
    return render(request, "validation/show_request.html", context)
