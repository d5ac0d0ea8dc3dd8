"""Read logs and counts from a replica, if REPLICA_URL is set and the replica keeps up.

Only rows of settings.REPLICA_MODELS, and only in functions that are decorated: what decides about
money, keys or permissions, or what a form has just written, is read from the primary.
"""

import functools
import logging
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, ParamSpec, TypeVar

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections
from django.db import Error as DatabaseError

from runtime.database.raw_sql import times_unavailable

P = ParamSpec("P")
Result = TypeVar("Result")

CHECK_SECONDS, PAUSE_SECONDS, MAX_LAG_SECONDS = 5.0, 30.0, 10.0
# Without a commit on the primary, the lag seems to grow. A promoted standby is the primary.
_KEEPS_UP = """SELECT pg_is_in_recovery()
AND clock_timestamp() - pg_last_xact_replay_timestamp() < make_interval(secs => %s)"""

logger = logging.getLogger(__name__)
_is_reading: ContextVar[bool] = ContextVar("is_reading", default=False)


class ReplicaRouter:
    # What this process knows of the replica.
    keeps_up, next_check = False, 0.0

    def db_for_read(self, model: Any, **_: Any) -> str:
        on_replica = _is_reading.get() and model._meta.label_lower in settings.REPLICA_MODELS
        return "replica" if on_replica else DEFAULT_DB_ALIAS

    def allow_relation(self, *_: Any, **__: Any) -> bool:
        return True

    @classmethod
    def check(cls) -> bool:
        """Check again after CHECK_SECONDS. Until that ends, other greenlets use the last state."""
        if time.monotonic() > cls.next_check:
            cls.next_check = time.monotonic() + CHECK_SECONDS
            with connections["replica"].cursor() as cursor:
                cursor.execute(_KEEPS_UP, [MAX_LAG_SECONDS])
                cls.keeps_up = bool(cursor.fetchone()[0])
        return cls.keeps_up


def reads_replica(function: Callable[P, Result]) -> Callable[P, Result]:
    """Let a function that only reads use the replica. If that fails, run it on the primary."""

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> Result:
        if not settings.REPLICA:
            return function(*args, **kwargs)
        token = _is_reading.set(True)
        try:
            if ReplicaRouter.check():
                return function(*args, **kwargs)
        except DatabaseError as error:
            ReplicaRouter.keeps_up = False
            ReplicaRouter.next_check = time.monotonic() + PAUSE_SECONDS
            times_unavailable.labels("replica").inc()
            logger.warning("Replica not used: %s", error)
        finally:
            _is_reading.reset(token)
            connections["replica"].close()
        return function(*args, **kwargs)

    return run
