from django.template.defaultfilters import pluralize

from accounts.models import Account
from validation.erasure import ErasureCount


def format_days(days: int) -> str:
    return f"{days:,} day{pluralize(days)}"


def describe_stored_results(hours: int, list_days: int) -> str:
    stored = f"Full results are stored encrypted for {hours:,} hour{pluralize(hours)}."
    lists = f"Lists are stored encrypted for {format_days(list_days)}, or until you delete them."
    return f"{stored} {lists}" if hours else lists


def erasure_summary(account: Account, rows: ErasureCount) -> str:
    found = f"This deletes {rows.summary}."
    if not rows.total:
        found = f"{account} has no data about this address."
    if not rows.readable_lists:
        return found
    is_one = rows.readable_lists == 1
    lists, them = ("1 list", "it") if is_one else (f"{rows.readable_lists:,} lists", "them")
    return (
        f"{found} We may still read {lists}, or read {them} again with another column: if the "
        "address is there, its rows are emptied then."
    )
