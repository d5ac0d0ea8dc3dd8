"""Build the sentences of docs pages that depend on the code's facts. Pure.

Text between `backticks` is rendered as code by the template filter `ticks`.
"""

from collections.abc import Iterable, Mapping
from decimal import Decimal

from credits.money import format_percent
from validation.models.list_states import State

# The value of a sample detail that is too long to show.
OMITTED = "…"

# In the order in which a list has them.
LIST_STATES = {
    State.UPLOADING: "Waits for parts of the file.",
    State.PARSING: "We read the rows and count addresses and duplicates.",
    State.READY: "The price is known. Start the list, or delete it.",
    State.QUEUED: "Started. It runs as soon as a process is free.",
    State.RUNNING: "Addresses are being checked, and their results are stored.",
    State.PAUSED: "Stopped until you resume it. After 30 days, it's canceled.",
    State.RECHECKING: "Each address has a result, and unknown ones are checked again.",
    State.COMPLETED: "All results are available.",
    State.CANCELED: "Ended early. The results so far can be downloaded.",
    State.FAILED: "Could not be read or checked. `error` says why.",
    State.EXPIRED: "Rows and results were deleted. The counts are still there.",
}


def describe_tax(tax_rate: Decimal) -> str:
    if not tax_rate:
        return "No tax is added to these prices."
    return f"{format_percent(tax_rate)} tax is added to these prices."


def list_codes(codes: Iterable[str]) -> str:
    return ", ".join(f"`{code}`" for code in codes)


def describe_details(details: Mapping[str, object]) -> str:
    """Name the fields of an error's `details`, with their sample values. Empty if it has none."""
    if not details:
        return ""
    fields = [f"`{name}`{_sample(value)}" for name, value in details.items()]
    return f"`details` contains {', '.join(fields)}."


def _sample(value: object) -> str:
    return "" if value == OMITTED else f" (for example {value})"


def describe_result(word: str, result: Mapping[str, object]) -> str:
    """Describe the result of a sandbox word: its verdict, its reason, and what is special."""
    parts = [str(result["verdict"])]
    if result["reason"] != word:
        parts.append(f"`{result['reason']}`")
    if result["retry_after_s"]:
        parts.append(f"retry after {result['retry_after_s']} seconds")
    parts += [f"with `{field}`" for field in ("did_you_mean", "syntax_error") if result[field]]
    return ", ".join(parts)
