"""Let other requests run during one that computes for long.

A web worker's greenlets switch only when they wait. A request that computes for several
milliseconds calls `let_others_run` again and again, outside transactions.
"""


def let_others_run() -> None:
    """Pause until other requests wait, but only briefly. Replaced by config/server/worker.py."""
