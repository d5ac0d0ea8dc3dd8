"""The asynchronous client. It needs the extra `async`, which installs httpx."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Mapping
from typing import Any, Callable, Optional, TypeVar, Union

import httpx

from emailvalidation import _flows
from emailvalidation._calls import (
    Deadline,
    Pause,
    Query,
    Request,
    Response,
    build_request,
    run_call,
)
from emailvalidation._config import Config
from emailvalidation._flows import Flow, Pace, SignUpCheck
from emailvalidation.errors import ConnectionFailed, DeadlineExceeded, EmailValidationError
from emailvalidation.types import BatchResult, Credits, Event, Result, Usage

T = TypeVar("T")


class AsyncClient:
    """`Client` for asyncio. For lists, run a `Client` in `asyncio.to_thread`."""

    def __init__(
        self,
        api_key: Optional[str] = None,
        base_url: Optional[str] = None,
        *,
        timeout: float = 30.0,
    ) -> None:
        self._config = Config.load(api_key, base_url, timeout)
        self._http = httpx.AsyncClient(
            base_url=self._config.base_url,
            headers=self._config.headers,
            # Each call has a deadline of its own.
            timeout=None,  # noqa: S113
        )

    def __repr__(self) -> str:
        return f"AsyncClient({self._config.base_url!r})"

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

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
        deadline = self._deadline(_flows.time_for(check, timeout_s, timeout))
        return await self._run(_flows.validate(deadline, email, check, timeout_s, idempotency_key))

    async def sign_up_check(
        self,
        email: str,
        *,
        timeout: float = _flows.SIGN_UP_TIMEOUT,
        on_failure: Optional[Callable[[EmailValidationError], object]] = None,
    ) -> SignUpCheck:
        """Say whether a form should accept an address. If it can't be checked, it's accepted."""
        if refusal := _flows.refuse_at_once(email):
            return refusal
        try:
            return _flows.describe_for_form(await self.validate(email, timeout=timeout))
        except EmailValidationError as error:
            if on_failure:
                on_failure(error)
            return SignUpCheck(accept=True, failure=error)

    async def validate_many(
        self,
        emails: Union[Iterable[str], AsyncIterable[str]],
        *,
        check: Optional[str] = None,
        timeout: float = _flows.BATCH_TIMEOUT,
    ) -> AsyncIterator[BatchResult]:
        """Validate any number of addresses in batches, in order. The timeout is for each batch."""
        pace = Pace()
        async for chunk in _chunks(emails):
            for result in await self._run(_flows.validate_batch(chunk, check, timeout, pace)):
                yield result

    async def credits(self) -> Credits:
        return Credits.from_json((await self.request("GET", "/v1/credits")).data)

    async def usage(self, **query: Optional[str]) -> Usage:
        """Return the usage of each day: `from_`, `to`, `key` and `source` select."""
        named: Query = {name.rstrip("_"): value for name, value in query.items()}
        return Usage.from_json((await self.request("GET", "/v1/usage", query=named)).data)

    async def events(
        self,
        after: str = "",
        *,
        type: Optional[str] = None,
        follow: bool = False,
        interval: float = 2.0,
    ) -> AsyncIterator[Event]:
        """Yield the events after the one with this ID, the oldest first."""
        while True:
            query: Query = {"after": after, "limit": 100, "type": type}
            page = (await self.request("GET", "/v1/events", query=query)).data
            for raw in page["data"]:
                yield Event.from_json(raw)
                after = raw["id"]
            if not page["has_more"]:
                if not follow:
                    return
                await asyncio.sleep(interval)

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
    ) -> Response:
        """Call any operation, with the same retries as the other methods."""
        request = build_request(
            method,
            path,
            json_body=json,
            query=query,
            body=body,
            headers=headers,
            idempotency_key=idempotency_key,
        )
        return await self._run(run_call(request, self._deadline(timeout)))

    def _deadline(self, timeout: Optional[float]) -> Deadline:
        return Deadline(self._config.timeout if timeout is None else timeout)

    async def _run(self, flow: Flow[T]) -> T:
        """Carry out the steps of a flow, and return its result."""
        answer: Optional[Response] = None
        failure: Optional[EmailValidationError] = None
        while True:
            try:
                step = flow.throw(failure) if failure else flow.send(answer)
            except StopIteration as stop:
                result: T = stop.value
                return result
            answer, failure = None, None
            if isinstance(step, Pause):
                await asyncio.sleep(step.seconds)
                continue
            try:
                answer = await self._send(step)
            except (ConnectionFailed, DeadlineExceeded) as error:
                failure = error

    async def _send(self, request: Request) -> Response:
        call = self._http.request(
            request.method, request.path, content=request.body, headers=request.headers
        )
        try:
            answer = await asyncio.wait_for(call, request.deadline.check())
        except asyncio.TimeoutError as error:
            raise request.deadline.exceeded from error
        # RuntimeError: the connection belongs to an event loop that has ended.
        except (httpx.HTTPError, httpx.InvalidURL, RuntimeError) as error:
            raise ConnectionFailed(
                f"The connection failed: {error or type(error).__name__}"
            ) from error
        headers = {name.lower(): value for name, value in answer.headers.items()}
        return Response.read(answer.status_code, headers, answer.content)


async def _chunks(emails: Union[Iterable[str], AsyncIterable[str]]) -> AsyncIterator[list[str]]:
    if isinstance(emails, AsyncIterable):
        chunk: list[str] = []
        async for email in emails:
            chunk.append(email)
            if len(chunk) == _flows.BATCH_SIZE:
                yield chunk
                chunk = []
        if chunk:
            yield chunk
    else:
        for part in _flows.chunks(emails):
            yield part
