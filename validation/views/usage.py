import csv
from datetime import datetime
from typing import Any

from django.http import HttpResponse, HttpResponseBadRequest
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from accounts.access import for_account
from accounts.requests import AccountRequest
from accounts.roles import Act
from validation import figures
from validation.charts import draw
from validation.csv_export import usage_lines
from validation.filters import UsageFilter
from validation.spans import Unit
from validation.zones import zone_of


@require_safe
@for_account(Act.LOOK)
def show_usage(request: AccountRequest) -> HttpResponse:
    form = UsageFilter(request.GET, request.account, timezone.now())
    form.is_valid()
    span, zone = form.span, zone_of(request)
    pieces = figures.by_piece(request.account, span, **form.only)
    names = [_name(piece.of, span.unit, zone) for piece in pieces]
    titles = [f"{name}: {piece.requests:,}" for name, piece in zip(names, pieces, strict=True)]
    context = {
        "form": form,
        "span": span,
        "zone": zone,
        "total": figures.altogether(pieces),
        "pieces": list(zip(names, pieces, strict=True)),
        "chart": draw([piece.calls for piece in pieces], titles),
        "by_key": figures.by_key(request.account, span, form.keys, **form.only),
        "refused": figures.refusals(request.account, span, **form.only),
    }
    return render(request, "validation/show_usage.html", context)


@require_safe
@for_account(Act.LOOK)
def download_usage(request: AccountRequest) -> HttpResponse:
    form = UsageFilter(request.GET, request.account, timezone.now())
    if not form.is_valid():
        return HttpResponseBadRequest("This range cannot be shown. Choose another on Usage.")
    span = form.span
    answer = HttpResponse(content_type="text/csv; charset=utf-8")
    name = f"usage-{span.first}-to-{span.last}.csv"
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    csv.writer(answer).writerows(usage_lines(request.account, span, form.keys, **form.only))
    return answer


def _name(of: Any, unit: Unit, zone: Any) -> str:
    if unit == Unit.MONTH:
        return f"{of:%b %Y}"
    if isinstance(of, datetime):
        return f"{of.astimezone(zone):%a %d %b, %H:%M}"
    return f"{of:%a %d %b}"
