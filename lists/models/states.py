from django.db import models


class ListState(models.TextChoices):
    UPLOADING = "uploading"
    PARSING = "parsing", "Reading file"
    # The price is known, and the customer decides.
    READY = "ready", "Ready to start"
    # No process works on it yet.
    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"
    # Unknown results are checked again.
    RECHECKING = "rechecking", "Results ready"
    COMPLETED = "completed"
    CANCELED = "canceled"
    FAILED = "failed"
    # Rows and results are deleted.
    EXPIRED = "expired"


FINAL = frozenset({ListState.COMPLETED, ListState.CANCELED, ListState.FAILED, ListState.EXPIRED})
# These count toward the account's limits.
UNFINISHED = frozenset(ListState) - FINAL
UNREAD = frozenset({ListState.UPLOADING, ListState.PARSING})
# These may be parsed, or parsed again.
READABLE = UNREAD | {ListState.READY}
# Processes take chunks of these lists.
WORKABLE = frozenset({ListState.QUEUED, ListState.RUNNING, ListState.RECHECKING})
HOLDING_CREDITS = WORKABLE | {ListState.PAUSED}

# The states from which a list can enter each state.
STATES_BEFORE: dict[ListState, frozenset[ListState]] = {
    ListState.UPLOADING: frozenset(),
    # A ready list is parsed again with another column.
    ListState.PARSING: READABLE - {ListState.PARSING},
    ListState.READY: frozenset({ListState.PARSING}),
    ListState.QUEUED: frozenset({ListState.READY, ListState.PAUSED}),
    ListState.RUNNING: frozenset({ListState.QUEUED, ListState.PAUSED}),
    ListState.PAUSED: WORKABLE,
    ListState.RECHECKING: frozenset({ListState.RUNNING, ListState.PAUSED}),
    # A list can be paused while unknown results are checked again.
    ListState.COMPLETED: frozenset({ListState.RECHECKING, ListState.PAUSED}),
    ListState.CANCELED: UNFINISHED,
    ListState.FAILED: frozenset({ListState.PARSING, ListState.RUNNING, ListState.RECHECKING}),
    ListState.EXPIRED: frozenset({ListState.UPLOADING, ListState.READY, *FINAL})
    - {ListState.EXPIRED},
}
