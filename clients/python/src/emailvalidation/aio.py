"""The asynchronous client. It needs the extra `async`, which installs httpx."""

from __future__ import annotations

import asyncio
from typing import Optional

import httpx

from emailvalidation._calls import Request, Response
from emailvalidation._core import Core
from emailvalidation.errors import ConnectionFailed


class AsyncClient(Core):
    """`Client` for asyncio. For lists, run a `Client` in `asyncio.to_thread`."""

    def __init__(
        self, api_key: Optional[str] = None, base_url: Optional[str] = None, *, timeout: float = 30
    ) -> None:
        super().__init__(api_key, base_url, timeout=timeout)
        # Each call has a deadline of its own.
        self._http = httpx.AsyncClient(base_url=self.base_url, timeout=None)  # noqa: S113

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

    async def _sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def _send(self, request: Request) -> Response:
        seconds = request.deadline.check()
        call = self._http.request(
            request.method, request.path, content=request.body, headers=request.headers
        )
        try:
            answer = await asyncio.wait_for(call, seconds)
        # RuntimeError: the connection belongs to an event loop that has ended.
        except (asyncio.TimeoutError, httpx.HTTPError, httpx.InvalidURL, RuntimeError) as error:
            reason = str(error) or type(error).__name__
            raise ConnectionFailed(f"The connection failed: {reason}") from error
        if request.to is not None and answer.is_success:
            request.to.write(answer.content)
        return Response(answer.status_code, answer.headers.items(), answer.content)
