"""A list as JSON, as every operation on lists returns it."""

from datetime import timedelta

from django.db.models import Sum
from django.utils import timezone

from credits.models import Hold
from validation.engine.verdicts.reasons import Verdict
from validation.models import AddressList
from validation.models.list_states import State

Document = dict[str, object]

# Nothing is known about the rows yet.
_UNREAD = frozenset({State.UPLOADING, State.PARSING})
_COUNTS = ("rows", "empty", "not_address", "bad_syntax", "duplicates", "addresses")


def list_document(address_list: AddressList) -> Document:
    """Return a list, except for its rows. Select its `hold` in the query of the list."""
    is_read = address_list.state not in _UNREAD
    return {
        "id": address_list.public_id,
        "name": address_list.name,
        "state": address_list.state,
        "error": _error(address_list),
        "counts": counts_document(address_list) if is_read else None,
        "progress": _progress(address_list),
        "verdicts": {verdict.value: getattr(address_list, verdict.value) for verdict in Verdict},
        "credits": _credits(address_list, is_read=is_read),
        "bytes": address_list.bytes,
        "column": address_list.column,
        "header": address_list.has_header,
        "dedupe": address_list.dedupe,
        "recheck_unknown": address_list.rechecks_unknown,
        "metadata": address_list.metadata,
        "created_at": address_list.created_at,
        "started_at": address_list.started_at,
        "finished_at": address_list.finished_at,
        "expires_at": address_list.expires_at,
    }


def counts_document(address_list: AddressList) -> Document:
    return {name: getattr(address_list, name) for name in _COUNTS}


def _error(address_list: AddressList) -> Document | None:
    if not address_list.error_code:
        return None
    return {"code": address_list.error_code, "message": address_list.error_message}


def _progress(address_list: AddressList) -> Document:
    return {
        "checked": address_list.checked,
        "total": address_list.addresses,
        "percent": _percent(address_list),
        "seconds_left": _seconds_left(address_list),
        "rechecks": address_list.rechecks,
        "recheck_at": address_list.recheck_at,
    }


def _percent(address_list: AddressList) -> int:
    """Return the share of checked addresses, rounded down."""
    if not address_list.addresses:
        return 100 if address_list.state == State.COMPLETED else 0
    return 100 * address_list.checked // address_list.addresses


def _seconds_left(address_list: AddressList) -> int | None:
    """Estimate from the speed so far. None unless the list is running and has first results."""
    started_at = address_list.started_at
    if address_list.state != State.RUNNING or started_at is None or not address_list.checked:
        return None
    elapsed = (timezone.now() - started_at) / timedelta(seconds=1)
    return round((address_list.addresses - address_list.checked) * elapsed / address_list.checked)


def _credits(address_list: AddressList, *, is_read: bool) -> Document:
    hold = address_list.hold
    return {
        "at_most": address_list.addresses if is_read else None,
        "held": hold.remaining if hold else 0,
        "charged": sum_charges(address_list.public_id, hold) if hold else 0,
    }


def sum_charges(public_id: str, hold: Hold) -> int:
    """Add up all holds of the list. It has another one if a deduction canceled the first."""
    source = f"list:{public_id}"
    if hold.source == source:
        return hold.charged
    count = int(hold.source.rpartition(":")[2])
    sources = [source, *(f"{source}:{number}" for number in range(2, count + 1))]
    return Hold.objects.filter(source__in=sources).aggregate(sum=Sum("charged"))["sum"] or 0
