"""What the methods of both clients do, written once.

`AsyncClient` awaits them. `Client` runs each to its end at once, since its own sending and
sleeping never wait for an event loop.
"""

from __future__ import annotations

import json as json_text
import math
import re
import time
import uuid
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Callable, Optional, TypeVar, Union
from urllib.parse import urlencode

from emailvalidation._calls import Deadline, Request, Response, backoff, seconds_to_wait
from emailvalidation._config import Config
from emailvalidation.errors import (
    ConnectionFailed,
    DeadlineExceeded,
    EmailValidationError,
    InvalidRequestError,
    error_from_response,
)
from emailvalidation.types import Batch, BatchResult, Credits, Event, EventPage, Result, Usage

BATCH_SIZE = 100
BATCH_TIMEOUT = 120.0
MAX_EMAIL_LENGTH = 320
# The API's own, in seconds.
MAILBOX_TIMEOUT = 10
SHORTEST_TRY = 5.0
REFUSED = "Please enter an email address that can receive mail."
# As in `"account";r=57;t=12`: the requests and the seconds that are left.
_RATE_LIMIT = re.compile(r";\s*r=(\d+);\s*t=(\d+)")

T = TypeVar("T")
Query = Mapping[str, Union[str, int, bool, None]]


@dataclass(frozen=True)
class SignUpCheck:
    """Whether a form should accept an address, and what to show. It never names mailboxes."""

    accept: bool
    # The address that was probably meant.
    suggestion: Optional[str] = None
    # For the form, if the address isn't accepted. Also an English sentence for a suggestion.
    message: Optional[str] = None
    # Why the address wasn't checked, and therefore accepted.
    failure: Optional[EmailValidationError] = field(default=None, compare=False)


class Core:
    def __init__(
        self, api_key: Optional[str] = None, base_url: Optional[str] = None, *, timeout: float = 30
    ) -> None:
        self._config = Config(api_key, base_url, timeout)
        self.base_url = self._config.base_url

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_url!r})"

    async def _send(self, request: Request) -> Response:
        """Send it once, within its deadline, or raise ConnectionFailed or DeadlineExceeded."""
        raise NotImplementedError

    async def _sleep(self, seconds: float) -> None:
        raise NotImplementedError

    async def validate(
        self,
        email: str,
        *,
        check: Optional[str] = None,
        timeout_s: Optional[float] = None,
        timeout: Optional[float] = None,
        idempotency_key: Optional[str] = None,
    ) -> Result:
        """Validate one address. `check="mailbox"` also asks its mail server, for `timeout_s`."""
        if timeout is None and check == "mailbox":
            # One try must have enough for `timeout_s`.
            timeout = 30 + 2.5 * (timeout_s or MAILBOX_TIMEOUT)
        body = given(email=email, check=check, timeout_s=timeout_s)
        response = await self.request(
            "POST", "/v1/validate", json=body, timeout=timeout, idempotency_key=idempotency_key
        )
        return Result.from_json(response.data)

    async def sign_up_check(
        self,
        email: str,
        *,
        timeout: float = 3.0,
        on_failure: Optional[Callable[[EmailValidationError], object]] = None,
    ) -> SignUpCheck:
        """Say whether a form should accept an address. If it can't be checked, it's accepted."""
        if not isinstance(email, str) or not 0 < len(email) <= MAX_EMAIL_LENGTH:
            return SignUpCheck(accept=False, message=REFUSED)
        try:
            result = await self.validate(email, timeout=timeout)
        except EmailValidationError as error:
            if on_failure:
                on_failure(error)
            return SignUpCheck(accept=True, failure=error)
        suggestion = result.did_you_mean
        # Don't reveal to visitors whether a mailbox exists.
        # A response without a decision isn't a refusal.
        if result.accept_for_signup is False and result.evidence != "smtp":
            message = result.syntax_error.message if result.syntax_error else REFUSED
            return SignUpCheck(accept=False, suggestion=suggestion, message=message)
        if suggestion:
            message = f"Did you mean {suggestion}?"
            return SignUpCheck(accept=True, suggestion=suggestion, message=message)
        return SignUpCheck(accept=True)

    async def validate_many(
        self,
        emails: Union[Iterable[str], AsyncIterable[str]],
        *,
        check: Optional[str] = None,
        timeout: float = BATCH_TIMEOUT,
    ) -> AsyncIterator[BatchResult]:
        """Validate any number of addresses in batches, in order. The timeout is for each batch.

        It waits for the rate limit, and keeps only one batch in memory.
        """
        size, room, resets_at = BATCH_SIZE, math.inf, 0.0
        async for chunk in _chunks(emails):
            start = 0
            while part := chunk[start : start + size]:
                if room < len(part) and (pause := resets_at - time.monotonic()) > 0:
                    await self._sleep(pause)
                body = given(emails=part, check=check)
                try:
                    response = await self.request(
                        "POST", "/v1/validate/batch", json=body, timeout=timeout
                    )
                except InvalidRequestError as error:
                    limit = error.details.get("limit")
                    is_too_large = error.code == "batch_larger_than_limit"
                    if not (is_too_large and isinstance(limit, int) and 0 < limit < len(part)):
                        raise
                    size = limit
                    continue
                found = _RATE_LIMIT.search(response.headers.get("ratelimit", ""))
                room = int(found[1]) if found else math.inf
                resets_at = time.monotonic() + int(found[2]) if found else 0.0
                for result in Batch.from_json(response.data).results:
                    yield result
                start += len(part)

    async def events(
        self,
        after: str = "",
        *,
        type: Optional[str] = None,
        follow: bool = False,
        interval: float = 2.0,
    ) -> AsyncIterator[Event]:
        """Yield the events after the one with this ID, the oldest first.

        With `follow`, it waits for new ones and doesn't end. Several types: separated by commas.
        """
        while True:
            query: Query = {"after": after, "limit": 100, "type": type}
            page = EventPage.from_json((await self.request("GET", "/v1/events", query=query)).data)
            for event in page.data:
                yield event
                after = event.id
            if not page.has_more:
                if not follow:
                    return
                await self._sleep(interval)

    async def credits(self) -> Credits:
        return Credits.from_json((await self.request("GET", "/v1/credits")).data)

    async def usage(
        self,
        *,
        from_: Optional[str] = None,
        to: Optional[str] = None,
        key: Optional[str] = None,
        source: Optional[str] = None,
    ) -> Usage:
        """Return the usage of each day, by default of the last 30."""
        query: Query = {"from": from_, "to": to, "key": key, "source": source}
        return Usage.from_json((await self.request("GET", "/v1/usage", query=query)).data)

    async def request(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        query: Optional[Query] = None,
        body: Optional[bytes] = None,
        headers: Optional[Mapping[str, str]] = None,
        timeout: Optional[float] = None,
        idempotency_key: Optional[str] = None,
        to: Optional[BinaryIO] = None,
    ) -> Response:
        """Call any operation, with the same retries as the other methods.

        A successful body is written `to` an open file, if there is one.
        """
        method = method.upper()
        sent = {"Accept": "*/*", **(headers or {}), **self._config.headers}
        if body is None and (json is not None or method in ("POST", "PUT", "PATCH")):
            sent["Content-Type"] = "application/json"
            body = json_text.dumps({} if json is None else json).encode()
        if method == "POST":
            # Made once, so that a retry is never charged again.
            sent.setdefault("Idempotency-Key", idempotency_key or str(uuid.uuid4()))
        if named := given(**(query or {})):
            texts = {k: str(v).lower() if isinstance(v, bool) else v for k, v in named.items()}
            path = f"{path}?{urlencode(texts)}"
        deadline = Deadline(self._config.timeout if timeout is None else timeout)
        return await self._call(Request(method, path, sent, body, deadline, to), deadline)

    async def _call(self, request: Request, deadline: Deadline) -> Response:
        """Send a request, again if that can help, and return its successful response."""
        tries = 0
        seen: list[Optional[int]] = []
        # Leaves some time for another try if the API doesn't respond.
        longest = max(SHORTEST_TRY, deadline.seconds * 0.3) if request.is_repeatable else math.inf
        while True:
            request.deadline = Deadline(min(deadline.check(), longest))
            if request.to is not None:
                # Without what an earlier try has written.
                request.to.seek(0)
                request.to.truncate()
            tries += 1
            error: EmailValidationError
            try:
                response = await self._send(request)
            except (ConnectionFailed, DeadlineExceeded) as failure:
                deadline.check()
                error, wait = failure, backoff(tries) if request.is_repeatable else None
            else:
                if response.is_success:
                    return response
                error = error_from_response(response.status, response.headers, response.data)
                wait = seconds_to_wait(request, error, seen)
                seen.append(response.status)
            if wait is None or wait >= deadline.left:
                raise error
            await self._sleep(wait)


def given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


async def _chunks(emails: Union[Iterable[str], AsyncIterable[str]]) -> AsyncIterator[list[str]]:
    chunk: list[str] = []
    async for email in emails if isinstance(emails, AsyncIterable) else _iterate(emails):
        chunk.append(email)
        if len(chunk) == BATCH_SIZE:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


async def _iterate(emails: Iterable[str]) -> AsyncIterator[str]:
    for email in emails:
        yield email


def finish(awaitable: Awaitable[T]) -> T:
    """Return the result of a method whose core never waits for an event loop."""
    try:
        next(awaitable.__await__())
    except StopIteration as stop:
        result: T = stop.value
        return result
    raise RuntimeError("Asynchronous iterables need an AsyncClient.")


def iterate(items: AsyncIterator[T]) -> Iterator[T]:
    with suppress(StopAsyncIteration):
        while True:
            yield finish(items.__anext__())
