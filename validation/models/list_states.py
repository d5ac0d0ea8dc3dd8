"""The states of a list, and which of them can follow each other. Pure."""

from enum import StrEnum


class State(StrEnum):
    # Parts of the file are still missing.
    UPLOADING = "uploading"
    PARSING = "parsing"
    # Rows are counted and the price is known. The customer decides what happens next.
    READY = "ready"
    # Started. No process works on it yet.
    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"
    # Each address has a result. Unknown ones are checked again.
    RECHECKING = "rechecking"
    COMPLETED = "completed"
    CANCELED = "canceled"
    FAILED = "failed"
    # The results are deleted, the counts are still there.
    EXPIRED = "expired"


_NEXT: dict[State, frozenset[State]] = {
    State.UPLOADING: frozenset({State.PARSING, State.CANCELED, State.EXPIRED}),
    State.PARSING: frozenset({State.READY, State.CANCELED, State.FAILED}),
    # Choosing another column parses the stored rows again.
    State.READY: frozenset({State.PARSING, State.QUEUED, State.CANCELED, State.EXPIRED}),
    State.QUEUED: frozenset({State.RUNNING, State.PAUSED, State.CANCELED}),
    State.RUNNING: frozenset({State.RECHECKING, State.PAUSED, State.CANCELED, State.FAILED}),
    # A resumed list waits in the queue until a process takes it, or goes on where it was paused.
    State.PAUSED: frozenset({State.QUEUED, State.RUNNING, State.RECHECKING, State.CANCELED}),
    State.RECHECKING: frozenset({State.COMPLETED, State.PAUSED, State.CANCELED, State.FAILED}),
    State.COMPLETED: frozenset({State.EXPIRED}),
    State.CANCELED: frozenset({State.EXPIRED}),
    State.FAILED: frozenset({State.EXPIRED}),
    State.EXPIRED: frozenset(),
}

FINAL = frozenset({State.COMPLETED, State.CANCELED, State.FAILED, State.EXPIRED})
# These count toward the account's limits of lists and bytes.
UNFINISHED = frozenset(State) - FINAL
# Processes take chunks of these lists.
WORKABLE = frozenset({State.QUEUED, State.RUNNING, State.RECHECKING})
# Their rows will be read, or may be read again with another column.
READABLE = frozenset({State.UPLOADING, State.PARSING, State.READY})
HOLDING_CREDITS = WORKABLE | {State.PAUSED}


def can_change(current: State, new: State) -> bool:
    """Return whether a list may go from one state to the other."""
    return new in _NEXT[current]


def states_before(new: State) -> frozenset[State]:
    """Return the states that a list can leave for `new`, for the condition of an UPDATE."""
    return frozenset(state for state, following in _NEXT.items() if new in following)
