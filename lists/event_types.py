from accounts.events import record_event
from accounts.events.types import EventType, integer, text
from lists.models import AddressList
from lists.models.states import ListState

_CODES = {ListState.FAILED: "internal_error", ListState.PAUSED: "credits_deducted"}
_COUNTS = {"deliverable": 37_900, "risky": 5_012, "undeliverable": 4_700, "unknown": 508}


def _list_type(name: str, title: str, description: str, state: ListState) -> EventType:
    share = 0 if state == ListState.READY else 1
    data = {
        "id": text("ID of the list (`lst_…`)", "lst_4Fq8ZnWcR2tKvYx6BdJm"),
        "state": text("State of the list", state.value, values=[state.value]),
        "code": text("Code of the error, if there was one", _CODES.get(state), is_nullable=True),
        "rows": integer("Number of rows, without the header", 50_000),
        "addresses": integer("Distinct addresses", 48_120),
        **{
            verdict: integer(f"{verdict.capitalize()} addresses so far", share * count)
            for verdict, count in _COUNTS.items()
        },
        "credits": integer("Credits charged so far", share * 47_612),
    }
    is_emailed = state in {ListState.RECHECKING, ListState.FAILED}
    return EventType(name, title, description, data, is_emailed)


LIST_READY = _list_type(
    "list.ready", "List ready", "A list was read and waits for its start.", ListState.READY
)
LIST_RESULTS_READY = _list_type(
    "list.results_ready",
    "List has its results",
    "Every address has a result. Unknown ones may be checked again until the list completes.",
    ListState.RECHECKING,
)
LIST_COMPLETED = _list_type(
    "list.completed", "List completed", "The results of a list are final.", ListState.COMPLETED
)
LIST_FAILED = _list_type(
    "list.failed", "List failed", "A list couldn't be read or checked.", ListState.FAILED
)
LIST_PAUSED = _list_type(
    "list.paused",
    "List paused",
    "A list was paused, by you or because the credits held for it were deducted.",
    ListState.PAUSED,
)
LIST_CANCELED = _list_type(
    "list.canceled", "List canceled", "A list was canceled or deleted.", ListState.CANCELED
)
_TYPES: dict[str, EventType] = {
    ListState.READY: LIST_READY,
    ListState.RECHECKING: LIST_RESULTS_READY,
    ListState.COMPLETED: LIST_COMPLETED,
    ListState.FAILED: LIST_FAILED,
    ListState.PAUSED: LIST_PAUSED,
    ListState.CANCELED: LIST_CANCELED,
}


def record_list_event(address_list: AddressList) -> None:
    """Record that the list, whose row is up to date, has entered its state."""
    data = {
        "id": address_list.public_id,
        "state": address_list.state,
        "code": address_list.error_code or None,
        "rows": address_list.rows,
        "addresses": address_list.addresses,
        **address_list.verdict_counts,
        "credits": address_list.charged,
    }
    record_event(address_list.account, _TYPES[address_list.state], data)
