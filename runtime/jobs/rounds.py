"""Work that the background worker looks for in each of its rounds, about once per second."""

import logging
from collections.abc import Callable
from typing import Protocol

from django.db import Error as DatabaseError

from runtime.hooks import Hook

logger = logging.getLogger(__name__)


class WorkerRound(Protocol):
    def __call__(self, *, is_stopping: Callable[[], bool]) -> None:
        """Do the work that is due, and return soon: emails with an attachment wait for it."""


on_worker_round = Hook[WorkerRound]("ON_WORKER_ROUND")


def run_round(is_stopping: Callable[[], bool]) -> None:
    """Run every function, including those after one that fails."""
    for path in on_worker_round.paths:
        try:
            on_worker_round.load(path)(is_stopping=is_stopping)
        except DatabaseError:
            # The worker waits for the database.
            raise
        except Exception:
            logger.exception("Background work %s failed", path)
