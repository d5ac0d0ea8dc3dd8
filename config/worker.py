"""The web worker: gunicorn's gevent worker, made fair. Why gevent: docs/performance.md."""

from typing import Any

import gevent
from gunicorn.workers.ggevent import GeventWorker


class Worker(GeventWorker):  # type: ignore[misc]
    def handle_request(self, *arguments: Any) -> Any:
        """After each answer the others have their turn.

        A greenlet only gives way when it has to wait. A client whose next request is already there
        would be served again and again while the others of this worker wait.
        """
        try:
            return super().handle_request(*arguments)
        finally:
            gevent.sleep(0)
