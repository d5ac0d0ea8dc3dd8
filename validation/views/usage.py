from datetime import tzinfo
from typing import Any

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from accounts.models import Account
from accounts.permissions import require_permission
from accounts.request import AccountRequest
from accounts.roles import TeamPermission
from runtime.csv_download import csv_response
from validation.reports import usage_stats
from validation.reports.charts import draw
from validation.reports.date_ranges import DateRange
from validation.reports.filters import UsageFilter
from validation.reports.time_zones import zone_of
from validation.reports.usage_csv import usage_lines


@require_safe
@require_permission(TeamPermission.LOOK)
def show_usage(request: AccountRequest) -> HttpResponse:
    form = UsageFilter(request.GET, request.account, timezone.now())
    form.is_valid()
    zone = zone_of(request)
    context: dict[str, Any] = {"form": form, "zone": zone, "span": form.span}
    if form.span:
        context |= _figures(request.account, form.span, form.only, zone)
    return render(request, "validation/show_usage.html", context)


@require_safe
@require_permission(TeamPermission.LOOK)
def download_usage(request: AccountRequest) -> HttpResponseBase:
    form = UsageFilter(request.GET, request.account, timezone.now())
    if not form.is_valid() or form.span is None:
        # Which says what is wrong with it.
        return redirect(f"{reverse('validation:show-usage')}?{form.query}")
    span = form.span
    name = f"usage-{span.first}-to-{span.last}.csv"
    return csv_response(name, usage_lines(request.account, span, **form.only))


def _figures(
    account: Account, span: DateRange, only: dict[str, Any], zone: tzinfo
) -> dict[str, Any]:
    pieces = usage_stats.by_piece(account, span, **only)
    named = list(zip(span.names(zone, timezone.now()), pieces, strict=True))
    titles = [f"{name}: {piece.requests:,}" for name, piece in named]
    return {
        "total": usage_stats.altogether(pieces),
        "pieces": named,
        "chart": draw([piece.calls for piece in pieces], titles),
        "by_key": usage_stats.by_key(account, span, **only),
        "refused": usage_stats.refusals(account, span, **only),
    }
