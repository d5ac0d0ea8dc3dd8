from datetime import tzinfo

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone

from accounts.date_display import current_zone
from accounts.models import Account
from accounts.permissions import require_permission
from accounts.request import AccountRequest
from accounts.roles import TeamPermission
from runtime.csv_download import csv_response
from runtime.database.replica import reads_replica
from validation.presenters.charts import build_usage_chart, interval_urls
from validation.presenters.stats import usage_page_stats
from validation.presenters.usage import name_source, no_usage, period_name, usage_scope
from validation.reports import usage_stats
from validation.reports.filters import UsageFilter
from validation.reports.usage_csv import usage_rows


@require_permission(TeamPermission.VIEW_ACCOUNT)
@reads_replica
def show_usage(request: AccountRequest) -> HttpResponse:
    form = UsageFilter(request.GET, request.account, timezone.now())
    form.is_valid()
    zone = current_zone()
    context = {"form": form, "scope": usage_scope(form, zone), "date_range": form.date_range}
    context |= _stats(request.account, form, zone)
    return render(request, "validation/show_usage.html", context)


@require_permission(TeamPermission.VIEW_ACCOUNT)
@reads_replica
def download_usage(request: AccountRequest) -> HttpResponseBase:
    form = UsageFilter(request.GET, request.account, timezone.now())
    if not form.is_valid() or form.date_range is None:
        return redirect(f"{reverse('validation:show-usage')}?{form.query}")
    date_range = form.date_range
    name = f"usage-{date_range.first}-to-{date_range.last}.csv"
    rows = usage_rows(request.account, date_range, form.chosen_source, **form.key_filter)
    # Read before the replica's connection is closed.
    return csv_response(name, list(rows))


def _stats(account: Account, form: UsageFilter, zone: tzinfo) -> dict[str, object]:
    date_range, key_filter, now = form.date_range, form.key_filter, timezone.now()
    if date_range is None:
        return {}
    period, nouns = period_name(form, date_range), name_source(form.chosen_source)
    stats, previous = (
        usage_stats.add_sources(usage_stats.by_interval(account, each, **key_filter), form.sources)
        if each
        else []
        for each in (date_range, date_range.previous(now.date()))
    )
    usage = build_usage_chart(
        stats,
        previous,
        date_range,
        period,
        zone=zone,
        now=now,
        urls=interval_urls(account, date_range, form.filters),
        nouns=nouns,
    )
    by_key = usage_stats.by_key(account, date_range, **key_filter)
    return {
        "usage": usage,
        "no_usage": no_usage(nouns),
        "stats": usage_page_stats(stats, period, nouns),
        "by_key": [used for used in by_key if used.source in form.sources],
        "refused": usage_stats.count_refusals(account, date_range, **key_filter),
    }
