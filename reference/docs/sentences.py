"""Sentences of docs pages that depend on the code."""

from collections.abc import Iterable, Mapping
from decimal import Decimal

from credits.money import format_percent
from lists.models.states import ListState

# The value of a sample detail that is too long to show.
OMITTED = "…"

LIST_STATES = {
    ListState.UPLOADING: "Waits for parts of the file.",
    ListState.PARSING: "We read the rows and count addresses and duplicates.",
    ListState.READY: "The price is known. Start the list, or delete it.",
    ListState.QUEUED: "Started. It runs as soon as a process is free.",
    ListState.RUNNING: "Addresses are being checked, and their results are stored.",
    ListState.PAUSED: "Stopped until you resume it. After 30 days, it's canceled.",
    ListState.RECHECKING: "Each address has a result. Unknown ones are checked again.",
    ListState.COMPLETED: "All results are final.",
    ListState.CANCELED: "Ended early. The results so far can be downloaded.",
    ListState.FAILED: "Could not be read or checked. `error` says why.",
    ListState.EXPIRED: "Rows and results were deleted. The counts are still there.",
}


def describe_tax(tax_rate: Decimal) -> str:
    if not tax_rate:
        return "No tax is added to these prices."
    return f"{format_percent(tax_rate)} tax is added to these prices."


def list_codes(codes: Iterable[str]) -> str:
    return ", ".join(f"`{code}`" for code in codes)


def describe_details(details: Mapping[str, object]) -> str:
    """Name the fields of an error's `details`, with sample values."""
    if not details:
        return ""
    fields = [
        f"`{name}`" if value == OMITTED else f"`{name}` (for example {value})"
        for name, value in details.items()
    ]
    return f"`details` contains {', '.join(fields)}."


def describe_result(word: str, result: Mapping[str, object]) -> str:
    parts = [str(result["verdict"])]
    if result["reason"] != word:
        parts.append(f"`{result['reason']}`")
    if result["retry_after_s"]:
        parts.append(f"retry after {result['retry_after_s']} seconds")
    optional = ("did_you_mean", "lookalike_of", "syntax_error")
    parts += [f"with `{field}`" for field in optional if result[field]]
    return ", ".join(parts)
