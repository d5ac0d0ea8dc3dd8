from collections.abc import Sequence

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone

from accounts.date_display import current_zone
from accounts.permissions import require_permission
from accounts.presenters.log_pages import empty_log, log_links
from accounts.request import AccountRequest
from accounts.roles import TeamPermission
from apikeys.crypto import contains_secret
from apikeys.errors import REFUSALS
from runtime.csv_download import csv_response
from runtime.database.pagination import Cursor
from runtime.database.replica import reads_replica
from runtime.dates import from_microseconds
from validation.feedback.services import find_feedback, find_reportable_result
from validation.ids import is_result_id, normalize_result_id
from validation.models import LogEntry
from validation.playground import format_json
from validation.presenters import requests as texts
from validation.presenters.log_page import present_chart, present_chips, range_links
from validation.presenters.retention import format_days
from validation.request_log import csv_export, search
from validation.request_log.filters import LogFilter, LogTimesForm
from validation.request_log.histogram import count_requests
from validation.request_log.search_line import read_search_line
from validation.request_log.suggestions import suggest_for_entry
from validation.results import stored_results

PAGE = "validation:show-requests"


@require_permission(TeamPermission.VIEW_ACCOUNT)
@reads_replica
def show_requests(request: AccountRequest) -> HttpResponse:
    return _requests_page(request, LogFilter(request.GET, request.account))


def _requests_page(
    request: AccountRequest, form: LogFilter, text: str = "", not_understood: Sequence[str] = ()
) -> HttpResponse:
    account, now = request.account, timezone.now()
    before = Cursor.parse(request.GET.get("before", ""))
    days = account.log_retention_days
    context = {
        "form": form,
        "text": text,
        "not_understood": not_understood,
        "days": days,
        "retention": format_days(days),
        "ranges": range_links(form, days),
    }
    entries: list[LogEntry] = []
    if form.is_valid():
        page = search.log_page(form, before)
        entries = search.mark_pending(page.entries)
        is_filtered, never = bool(form.query or before), texts.never_logged(days)
        context |= {
            "page": page,
            "links": log_links(page, form.query, is_first=before is None),
            "empty": empty_log(page, noun="requests", is_filtered=is_filtered, never=never),
            "is_live": not (before or form.cleaned_data["until"]),
        }
        if days:
            histogram = count_requests(form, now, current_zone())
            context["log_chart"] = present_chart(form, histogram, days)
    context["chips"] = present_chips(form, entries)
    context["times"] = LogTimesForm(initial=form.cleaned_data)
    return render(request, "validation/show_requests.html", context)


@require_permission(TeamPermission.VIEW_ACCOUNT, form_page=PAGE)
def export_requests(request: AccountRequest) -> HttpResponseBase:
    """Export the filtered requests. Needs a POST because the audit log records it."""
    form = LogFilter(request.POST, request.account)
    if not form.is_valid():
        return redirect(f"{reverse(PAGE)}?{form.query}")
    rows = csv_export.export(form=form, actor=request.user)
    return csv_response(f"requests-{timezone.now():%Y-%m-%d}.csv", rows)


@require_permission(TeamPermission.VIEW_ACCOUNT, form_page=PAGE)
def find_request(request: AccountRequest) -> HttpResponse:
    """Redirect to the filters of a search line. The URL has an address only as a hash."""
    params = request.POST.dict() | LogTimesForm(request.POST).utc_params
    form, text = LogFilter(params, request.account), request.POST.get("text", "").strip()
    page, result_id = f"{reverse(PAGE)}?{form.query}", normalize_result_id(text)
    if contains_secret(text):
        messages.error(request, "That's an API key. Rotate it, and filter by its name instead.")
        return redirect(page)
    if is_result_id(result_id):
        entry = search.find_result(request.account, result_id)
        if entry is None:
            messages.error(request, f"No stored request has the result ID {result_id}.")
        return redirect(entry or page)
    filters, not_understood = read_search_line(text, request.account, form)
    if not_understood:
        return _requests_page(request, form, text, not_understood)
    found = LogFilter({**form.params, **filters}, request.account)
    return redirect(f"{reverse(PAGE)}?{found.query}")


@require_permission(TeamPermission.VIEW_ACCOUNT)
def show_request(request: AccountRequest, request_id: str, moment: int) -> HttpResponse:
    at = from_microseconds(str(moment))
    entry = at and search.find_entry(request.account, request_id, at)
    if not entry:
        raise Http404("This request doesn't exist or is no longer stored.")
    reportable = find_reportable_result(request.account, entry.result_id)
    suggestion = suggest_for_entry(entry)
    context = {
        "entry": entry,
        "cost": texts.format_cost(entry),
        "meaning": texts.explain_reason(entry, suggestion),
        "refusal": REFUSALS.get(entry.refusal),
        "suggestion": suggestion,
        "result": stored_results.find_result(request.account, entry.result_id, balance=0),
        "feedback": find_feedback(request.account, entry.result_id),
        "takes_feedback": reportable is not None and not entry.sandbox,
        "request_json": format_json(texts.request_data(entry)),
        "response_json": format_json(texts.response_data(entry)),
        "result_hours": settings.RESULT_RETENTION_HOURS,
    }
    return render(request, "validation/show_request.html", context)
