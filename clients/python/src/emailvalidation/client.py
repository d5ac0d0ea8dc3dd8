"""The synchronous client."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Iterable, Iterator
from functools import wraps
from typing import TYPE_CHECKING, Any, Callable, Optional, TypeVar

from emailvalidation._calls import Request, Response
from emailvalidation._core import BATCH_TIMEOUT, Core, finish, iterate
from emailvalidation._transport import Transport
from emailvalidation.domains import Domains
from emailvalidation.events import Events
from emailvalidation.lists import Lists
from emailvalidation.types import BatchResult

if TYPE_CHECKING:
    from typing_extensions import Concatenate, ParamSpec

    P = ParamSpec("P")
T = TypeVar("T")


def _blocking(
    method: Callable[Concatenate[Core, P], Awaitable[T]],
) -> Callable[Concatenate[Client, P], T]:
    @wraps(method)
    def run(self: Client, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return finish(method(self._core, *args, **kwargs))

    return run


class _BlockingCore(Core):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.transport = Transport(self.base_url)

    async def _send(self, request: Request) -> Response:
        return self.transport.send(request)

    async def _sleep(self, seconds: float) -> None:
        time.sleep(seconds)


class Client:
    """The API with one key. Threads may share it, and it keeps its connections open."""

    def __init__(
        self, api_key: Optional[str] = None, base_url: Optional[str] = None, *, timeout: float = 30
    ) -> None:
        self._core = _BlockingCore(api_key, base_url, timeout=timeout)
        self.base_url = self._core.base_url
        self.lists = Lists(self)
        self.events = Events(self._core)
        self.domains = Domains(self)

    def __repr__(self) -> str:
        return f"Client({self.base_url!r})"

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._core.transport.close()

    validate = _blocking(Core.validate)
    sign_up_check = _blocking(Core.sign_up_check)
    credits = _blocking(Core.credits)
    usage = _blocking(Core.usage)
    request = _blocking(Core.request)

    def validate_many(
        self, emails: Iterable[str], *, check: Optional[str] = None, timeout: float = BATCH_TIMEOUT
    ) -> Iterator[BatchResult]:
        """Validate any number of addresses in batches, in order. The timeout is for each batch.

        It waits for the rate limit, and keeps only one batch in memory.
        """
        return iterate(self._core.validate_many(emails, check=check, timeout=timeout))
