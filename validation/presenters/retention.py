"""Say how long requests are kept, and what the erasure of an address deletes. Pure."""

from django.template.defaultfilters import pluralize

from accounts.models import Account
from validation.request_log.erasure import ErasureCount


def format_days(days: int) -> str:
    return f"{days:,} day{pluralize(days)}"


def format_retention(days: int) -> str:
    return format_days(days) if days else "Not at all"


def retention_sentence(days: int) -> str:
    """Say how long requests are kept to members who can't change it."""
    kept = f"Requests are kept for {format_days(days)}." if days else "Requests aren't kept."
    return f"{kept} An owner or admin can change it."


def erasure_summary(account: Account, rows: ErasureCount) -> str:
    return f"It's in {rows.summary}." if rows.total else f"{account} stores nothing about it now."
