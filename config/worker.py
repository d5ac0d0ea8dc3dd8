"""The web worker: gunicorn's gevent worker, made fair and patient only so far.

Why gevent: docs/performance.md.
"""

from io import BytesIO
from typing import Any

import gevent
from gunicorn import util
from gunicorn.workers.ggevent import GeventWorker

# A body is read whole before Django is called: a client that sends it slowly, or never, holds no
# database connection meanwhile.
BODY_SECONDS = 10
LARGEST_BODY = 3 * 1024 * 1024


class Worker(GeventWorker):  # type: ignore[misc]
    def handle_request(self, listener_name: Any, request: Any, client: Any, address: Any) -> Any:
        request.body = self._read_body(request, client)
        try:
            return super().handle_request(listener_name, request, client, address)
        finally:
            # A greenlet only gives way when it has to wait. A client whose next request is already
            # there would be served again and again while the others of this worker wait.
            gevent.sleep(0)

    @staticmethod
    def _read_body(request: Any, client: Any) -> BytesIO:
        body = b""
        with gevent.Timeout(BODY_SECONDS, False):
            body = request.body.read(LARGEST_BODY + 1)
            if len(body) <= LARGEST_BODY:
                return BytesIO(body)
        if body:
            util.write_error(client, 413, "Content Too Large", "At most 3 MB are read.")
        # gunicorn closes the connection.
        raise StopIteration
