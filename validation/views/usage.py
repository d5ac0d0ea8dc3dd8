from datetime import tzinfo

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from accounts.date_display import current_zone
from accounts.models import Account
from accounts.permissions import require_permission
from accounts.request import AccountRequest
from accounts.roles import TeamPermission
from runtime.csv_download import csv_response
from validation.presenters.stats import usage_page_stats
from validation.presenters.usage import interval_heading, time_zone_note
from validation.reports import usage_stats
from validation.reports.charts import draw_chart
from validation.reports.date_ranges import DateRange
from validation.reports.filters import UsageFilter
from validation.reports.usage_csv import usage_rows


@require_safe
@require_permission(TeamPermission.VIEW_ACCOUNT)
def show_usage(request: AccountRequest) -> HttpResponse:
    form = UsageFilter(request.GET, request.account, timezone.now())
    form.is_valid()
    zone = current_zone()
    date_range = form.date_range
    note = time_zone_note(date_range.unit if date_range else None, zone)
    context: dict[str, object] = {"form": form, "time_zone_note": note, "date_range": date_range}
    if date_range:
        context |= _stats(request.account, date_range, form.key_filter, zone)
    return render(request, "validation/show_usage.html", context)


@require_safe
@require_permission(TeamPermission.VIEW_ACCOUNT)
def download_usage(request: AccountRequest) -> HttpResponseBase:
    form = UsageFilter(request.GET, request.account, timezone.now())
    if not form.is_valid() or form.date_range is None:
        # The usage page shows the form's errors.
        return redirect(f"{reverse('validation:show-usage')}?{form.query}")
    date_range = form.date_range
    name = f"usage-{date_range.first}-to-{date_range.last}.csv"
    return csv_response(name, usage_rows(request.account, date_range, **form.key_filter))


def _stats(
    account: Account, date_range: DateRange, key_filter: dict[str, object], zone: tzinfo
) -> dict[str, object]:
    stats = usage_stats.by_interval(account, date_range, **key_filter)
    intervals = list(zip(date_range.labels(zone, timezone.now()), stats, strict=True))
    titles = [f"{label}: {interval.requests:,}" for label, interval in intervals]
    total = usage_stats.sum_stats(stats)
    return {
        "total": total,
        "stats": usage_page_stats(total),
        "interval_heading": interval_heading(date_range.unit, zone),
        "intervals": intervals,
        "chart": draw_chart([interval.calls for interval in stats], titles),
        "by_key": usage_stats.by_key(account, date_range, **key_filter),
        "refused": usage_stats.count_refusals(account, date_range, **key_filter),
    }
