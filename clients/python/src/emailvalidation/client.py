"""The synchronous client."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Callable, Optional, TypeVar

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
from emailvalidation._transport import Transport
from emailvalidation.domains import Domains
from emailvalidation.errors import ConnectionFailed, DeadlineExceeded, EmailValidationError
from emailvalidation.events import Events
from emailvalidation.lists import Lists
from emailvalidation.types import BatchResult, Credits, Result, Usage

T = TypeVar("T")


class Client:
    """The API with one key. Threads may share it, and it keeps its connections open."""

    def __init__(
        self,
        api_key: Optional[str] = None,
        base_url: Optional[str] = None,
        *,
        timeout: float = 30.0,
    ) -> None:
        self._config = Config.load(api_key, base_url, timeout)
        self._transport = Transport(self._config.base_url)
        self.lists = Lists(self)
        self.events = Events(self)
        self.domains = Domains(self)

    def __repr__(self) -> str:
        return f"Client({self._config.base_url!r})"

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._transport.close()

    @property
    def base_url(self) -> str:
        return self._config.base_url

    def validate(
        self,
        email: str,
        *,
        check: Optional[str] = None,
        timeout_s: Optional[float] = None,
        timeout: Optional[float] = None,
        idempotency_key: Optional[str] = None,
    ) -> Result:
        """Validate one address. `check="mailbox"` also asks its mail server, for `timeout_s`."""
        deadline = self.deadline(_flows.time_for(check, timeout_s, timeout))
        return self.run(_flows.validate(deadline, email, check, timeout_s, idempotency_key))

    def sign_up_check(
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
            return _flows.describe_for_form(self.validate(email, timeout=timeout))
        except EmailValidationError as error:
            if on_failure:
                on_failure(error)
            return SignUpCheck(accept=True, failure=error)

    def validate_many(
        self,
        emails: Iterable[str],
        *,
        check: Optional[str] = None,
        timeout: float = _flows.BATCH_TIMEOUT,
    ) -> Iterator[BatchResult]:
        """Validate any number of addresses in batches, in order. The timeout is for each batch.

        It waits for the rate limit, and keeps only one batch in memory.
        """
        pace = Pace()
        for chunk in _flows.chunks(emails):
            yield from self.run(_flows.validate_batch(chunk, check, timeout, pace))

    def credits(self) -> Credits:
        return Credits.from_json(self.request("GET", "/v1/credits").data)

    def usage(
        self,
        *,
        from_: Optional[str] = None,
        to: Optional[str] = None,
        key: Optional[str] = None,
        source: Optional[str] = None,
    ) -> Usage:
        """Return the usage of each day, by default of the last 30."""
        query: Query = {"from": from_, "to": to, "key": key, "source": source}
        return Usage.from_json(self.request("GET", "/v1/usage", query=query).data)

    def request(
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
        return self.run(run_call(request, self.deadline(timeout)))

    def deadline(self, timeout: Optional[float] = None) -> Deadline:
        return Deadline(self._config.timeout if timeout is None else timeout)

    def run(self, flow: Flow[T]) -> T:
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
                time.sleep(step.seconds)
                continue
            try:
                answer = self._send(step)
            except (ConnectionFailed, DeadlineExceeded) as error:
                failure = error

    def _send(self, request: Request) -> Response:
        request.headers.update(self._config.headers)
        return self._transport.send(request)
