"""What a call is: its request, its deadline, and when it is sent again.

Nothing here does I/O. `run_call` is a generator of steps, which the synchronous and the
asynchronous client carry out in their own way.
"""

from __future__ import annotations

import json
import random
import re
import time
import uuid
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO, Optional, Union
from urllib.parse import urlencode

from emailvalidation.errors import (
    ConnectionFailed,
    DeadlineExceeded,
    EmailValidationError,
    error_from_response,
    read_seconds,
)

# Only these operations know idempotency keys. Repeating another POST could do its work twice.
_REPEATABLE_POST = re.compile(r"/v1/(validate(/batch)?|mcp|lists(/[^/]+/(start|rerun))?)/?$")
_LONGEST_PAUSE = 4.0
_SHORTEST_TRY = 5.0
# Statuses that are each worth one more try.
_ONCE = (500, 502, 504)

Query = Mapping[str, Union[str, int, bool, None]]


class Deadline:
    """The time that a call has in all: connecting, retries, pauses and reading included."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        return self._end - time.monotonic()

    def for_one_try(self) -> Deadline:
        """Return the time of one try, which leaves some for another if the API doesn't respond."""
        return Deadline(min(self.left, max(_SHORTEST_TRY, self.seconds * 0.3)))

    def check(self) -> float:
        """Return the seconds that are left, if any."""
        left = self.left
        if left <= 0:
            raise self.exceeded
        return left

    @property
    def exceeded(self) -> DeadlineExceeded:
        return DeadlineExceeded(f"The call wasn't finished within {self.seconds:.3g} seconds.")


@dataclass
class Request:
    method: str
    path: str
    headers: dict[str, str] = field(default_factory=dict)
    body: Optional[bytes] = None
    deadline: Deadline = field(default_factory=lambda: Deadline(30))
    # Where a successful response's body is written, instead of keeping it in memory.
    to: Optional[BinaryIO] = None

    @property
    def is_repeatable(self) -> bool:
        """Return whether it does no harm if the API receives it twice."""
        return self.method != "POST" or bool(_REPEATABLE_POST.match(self.path.partition("?")[0]))


@dataclass(frozen=True)
class Response:
    status: int
    # With lower-case names.
    headers: Mapping[str, str]
    body: bytes = field(repr=False)
    # The JSON, or None if the body has another format.
    data: Any = field(repr=False, default=None)

    @classmethod
    def read(cls, status: int, headers: Mapping[str, str], body: bytes) -> Response:
        """Parse the body. JSON that is cut off is a failed connection, and worth a retry."""
        response = cls(status, headers, body)
        if response.media_type != "application/json" or not body:
            return response
        try:
            return replace(response, data=json.loads(body))
        except ValueError as error:
            raise ConnectionFailed("The response was cut off.") from error

    @property
    def media_type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


@dataclass(frozen=True)
class Pause:
    seconds: float


Step = Union[Request, Pause]
# A driver sends a request's response in, and nothing after a pause.
Call = Generator[Step, Any, Response]


def build_request(
    method: str,
    path: str,
    *,
    json_body: Any = None,
    query: Optional[Query] = None,
    body: Optional[bytes] = None,
    headers: Optional[Mapping[str, str]] = None,
    idempotency_key: Optional[str] = None,
) -> Request:
    """Return the request. A POST has an idempotency key, which all its retries share."""
    method = method.upper()
    given = {name: _to_text(value) for name, value in (query or {}).items() if value is not None}
    url = f"{path}?{urlencode(given)}" if given else path
    request = Request(method, url, {"Accept": "*/*", **(headers or {})}, body)
    if json_body is not None:
        request.headers["Content-Type"] = "application/json"
        request.body = json.dumps(json_body).encode()
    if request.body is None and method in ("POST", "PUT", "PATCH"):
        request.headers.setdefault("Content-Type", "application/json")
        request.body = b"{}"
    if method == "POST":
        request.headers.setdefault("Idempotency-Key", idempotency_key or str(uuid.uuid4()))
    return request


def _to_text(value: Union[str, int, bool, None]) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def run_call(request: Request, deadline: Deadline) -> Call:
    """Yield what to do next, until there is a successful response or nothing more to try.

    A driver answers a request with its response, or throws in why there is none.
    """
    tries = 0
    seen: list[int] = []
    while True:
        deadline.check()
        request.deadline = deadline.for_one_try() if request.is_repeatable else deadline
        if request.to is not None:
            # Without what an earlier try has written.
            request.to.seek(0)
            request.to.truncate()
        tries += 1
        error: EmailValidationError
        try:
            response: Response = yield request
        except (ConnectionFailed, DeadlineExceeded) as failure:
            deadline.check()
            error = failure
            wait = _backoff(tries) if request.is_repeatable else None
        else:
            # A page is from a proxy, whatever its status: the API has none, and doesn't redirect.
            is_page = response.media_type == "text/html"
            if (response.status < 300 or response.status == 304) and not is_page:
                return response
            error = error_from_response(response.status, response.headers, response.data)
            wait = _seconds_to_wait(request, response, error, seen)
            seen.append(response.status)
        if wait is None or wait >= deadline.left:
            raise error
        yield Pause(wait)


def _seconds_to_wait(
    request: Request, response: Response, error: EmailValidationError, seen: list[int]
) -> Optional[float]:
    """Return None if another try would get the same response, or could do something twice."""
    status = response.status
    if status == 429:
        # Never earlier than asked, and not all waiting clients at the same moment.
        return _asked_wait(response, error) + random.uniform(0, 0.5)
    if status == 503 and (request.is_repeatable or error.details.get("charged") is False):
        return _asked_wait(response, error) + random.uniform(0, 0.5)
    if status in _ONCE and status not in seen and request.is_repeatable:
        return _backoff(1)
    return None


def _asked_wait(response: Response, error: EmailValidationError) -> float:
    """Return the seconds that the response asks for, or 1 if a proxy's doesn't say."""
    asked = error.details.get("retry_after") or response.headers.get("retry-after", "")
    return read_seconds(asked, 1.0)


def _backoff(tries: int) -> float:
    """Return a random pause, so that clients don't come back together after an outage."""
    return random.uniform(0, min(_LONGEST_PAUSE, 0.25 * 2**tries))
