"""What a call is: its request, its deadline, and when it is sent again. Nothing here does I/O."""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, BinaryIO, Optional

from emailvalidation.errors import (
    ConnectionFailed,
    DeadlineExceeded,
    EmailValidationError,
    read_seconds,
)

# Only these operations know idempotency keys. Repeating another POST could do its work twice.
_REPEATABLE_POST = re.compile(r"/v1/(validate(/batch)?|mcp|lists(/[^/]+/(start|rerun))?)/?$")
_LONGEST_PAUSE = 4.0
# Statuses that are each worth one more try.
_ONCE = (500, 502, 504)


class Deadline:
    """The time that a call has in all: connecting, retries, pauses and reading included."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        return self._end - time.monotonic()

    def check(self) -> float:
        """Return the seconds that are left, if any."""
        left = self.left
        if left <= 0:
            raise DeadlineExceeded(f"The call wasn't finished within {self.seconds:.3g} seconds.")
        return left


@dataclass
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: Optional[bytes]
    # That of the current try.
    deadline: Deadline
    # Where a successful response's body is written, instead of keeping it in memory.
    to: Optional[BinaryIO] = None

    @property
    def is_repeatable(self) -> bool:
        """Return whether it does no harm if the API receives it twice."""
        return self.method != "POST" or bool(_REPEATABLE_POST.match(self.path.partition("?")[0]))


class Response:
    def __init__(self, status: int, headers: Iterable[tuple[str, str]], body: bytes) -> None:
        self.status = status
        # With lower-case names.
        self.headers = {name.lower(): value for name, value in headers}
        self.body = body
        # The JSON, or None if the body has another format.
        self.data: Any = None
        media_type = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        # A page is from a proxy, whatever its status: the API has none, and doesn't redirect.
        self.is_success = (status < 300 or status == 304) and media_type != "text/html"
        if media_type == "application/json" and body:
            try:
                self.data = json.loads(body)
            except ValueError as error:
                raise ConnectionFailed("The response was cut off.") from error


def seconds_to_wait(
    request: Request, error: EmailValidationError, seen: list[Optional[int]]
) -> Optional[float]:
    """Return None if another try would get the same response, or could do something twice."""
    is_refused = error.status == 503 and (
        request.is_repeatable or error.details.get("charged") is False
    )
    if error.status == 429 or is_refused:
        # Never earlier than asked, and not all waiting clients at the same moment.
        return read_seconds(error.details.get("retry_after"), 1.0) + random.uniform(0, 0.5)
    if error.status in _ONCE and error.status not in seen and request.is_repeatable:
        return backoff(1)
    return None


def backoff(tries: int) -> float:
    """Return a random pause, so that clients don't come back together after an outage."""
    return random.uniform(0, min(_LONGEST_PAUSE, 0.25 * 2**tries))
