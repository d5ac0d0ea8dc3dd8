from datetime import tzinfo

from django.urls import reverse

from accounts.presenters.elements import EmptyState
from validation.reports.date_ranges import DateRange, Unit
from validation.reports.filters import UsageFilter

REQUESTS, ADDRESSES = "requests", "addresses"
SINGULAR = {REQUESTS: "request", ADDRESSES: "address"}


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
    for _, label, is_active in form.ranges:
        if is_active:
            return f"Last {label}"
    first, last = f"{date_range.first:%d %b %Y}", f"{date_range.last:%d %b %Y}"
    return first if first == last else f"{first} to {last}"


def format_count(number: int, nouns: str) -> str:
    return f"{number:,} {SINGULAR[nouns] if number == 1 else nouns}"


def no_usage(nouns: str = REQUESTS) -> EmptyState:
    return EmptyState(
        f"No {nouns} in this period.",
        "Addresses of lists appear here."
        if nouns == ADDRESSES
        else "Requests with your API keys and in the playground appear here.",
        "View the last 12 months",
        f"{reverse('validation:show-usage')}?range=12m",
    )
