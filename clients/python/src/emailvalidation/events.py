"""What happened in the account, in order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Optional

from emailvalidation._core import Core, finish, iterate
from emailvalidation.types import Event, EventPage


class Events:
    def __init__(self, core: Core) -> None:
        self._core = core

    def iterate(
        self,
        after: str = "",
        *,
        type: Optional[str] = None,
        follow: bool = False,
        interval: float = 2.0,
    ) -> Iterator[Event]:
        """Yield the events after the one with this ID, the oldest first.

        With `follow`, it waits for new ones and doesn't end. Several types: separated by commas.
        """
        return iterate(self._core.events(after, type=type, follow=follow, interval=interval))

    def newest(self) -> Optional[Event]:
        response = finish(self._core.request("GET", "/v1/events", query={"limit": 1}))
        return next(iter(EventPage.from_json(response.data).data), None)
