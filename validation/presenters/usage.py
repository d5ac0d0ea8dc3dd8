from collections.abc import Sequence
from datetime import datetime, tzinfo

from django.urls import reverse

from accounts.presenters.elements import EmptyState
from credits.models.usage import Source
from validation.reports.date_ranges import DateRange, Unit
from validation.reports.filters import UsageFilter
from validation.reports.usage_stats import UsageStats

REQUESTS, ADDRESSES, VALIDATIONS = "requests", "addresses", "validations"
SINGULAR = {REQUESTS: "request", ADDRESSES: "address", VALIDATIONS: "validation"}
RUNNING = {Unit.HOUR: "this hour", Unit.DAY: "today", Unit.MONTH: "this month"}


def name_source(source: Source | None) -> str:
    """Return what the pages count: requests, addresses of lists, or both."""
    if source is None:
        return VALIDATIONS
    return ADDRESSES if source == Source.LISTS else REQUESTS


def describe_change(
    stats: Sequence[UsageStats],
    previous: Sequence[UsageStats],
    date_range: DateRange,
    now: datetime,
) -> str:
    """Compare intervals that are over: `12% more than in the previous 30 days, without today`."""
    finished = date_range.count_finished(now)
    before = sum(each.requests for each in previous[:finished])
    if not before:
        return ""
    percent = round(100 * (sum(each.requests for each in stats[:finished]) / before - 1))
    change = f"{abs(percent):,}% {'more' if percent > 0 else 'fewer'} than"
    count, unit = len(stats), date_range.unit
    period = f"{count} {unit}s" if count > 1 else unit
    running = f", without {RUNNING[unit]}" if finished < count else ""
    return f"{change if percent else 'As many as'} in the previous {period}{running}"


def usage_scope(form: UsageFilter, zone: tzinfo) -> str:
    """Return `Last 30 days, sandbox excluded. UTC.`: what the page counts, and in which zone."""
    date_range = form.date_range
    if date_range is None:
        return "Sandbox excluded. UTC."
    scope = f"{period_name(form, date_range)}, sandbox excluded."
    if date_range.unit != Unit.HOUR or str(zone) == "UTC":
        return f"{scope} UTC."
    return f"{scope} Hours are in your time zone, {zone}. Days start at midnight UTC."


def interval_heading(unit: Unit, zone: tzinfo) -> str:
    return f"{unit.capitalize()} ({zone if unit == Unit.HOUR else 'UTC'})"


def period_name(form: UsageFilter, date_range: DateRange) -> str:
    """Return `Last 30 days`, or the chosen dates."""
    if form.active_range:
        return f"Last {form.RANGES[form.active_range]}"
    first, last = f"{date_range.first:%d %b %Y}", f"{date_range.last:%d %b %Y}"
    return first if first == last else f"{first} to {last}"


def format_count(number: int, nouns: str) -> str:
    return f"{number:,} {SINGULAR[nouns] if number == 1 else nouns}"


def no_usage(nouns: str) -> EmptyState:
    return EmptyState(
        f"No {nouns} in this period.",
        "Requests with your API keys and in the playground, and addresses of lists, appear here.",
        "View the last 12 months",
        f"{reverse('validation:show-usage')}?range=12m",
    )
