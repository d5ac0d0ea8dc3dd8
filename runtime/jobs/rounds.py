import logging
from collections.abc import Callable
from typing import Protocol

from django.db import Error as DatabaseError

from runtime.hooks import Hook

logger = logging.getLogger(__name__)


class WorkerRound(Protocol):
    def __call__(self, *, is_stopping: Callable[[], bool]) -> None:
        """Do what is due, and return soon: emails with an attachment wait."""


on_worker_round = Hook[WorkerRound]("ON_WORKER_ROUND")


def run_round(is_stopping: Callable[[], bool]) -> None:
    for path in on_worker_round.paths:
        try:
            on_worker_round.load(path)(is_stopping=is_stopping)
        except DatabaseError:
            # The worker tries again later.
            raise
        except Exception:
            logger.exception("Background work %s failed", path)
