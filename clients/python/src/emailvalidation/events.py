"""What happened in the account, in order."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Optional

from emailvalidation._calls import Query
from emailvalidation.types import Event

if TYPE_CHECKING:
    from emailvalidation.client import Client


class Events:
    def __init__(self, client: Client) -> None:
        self._client = client

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
        while True:
            query: Query = {"after": after, "limit": 100, "type": type}
            page = self._client.request("GET", "/v1/events", query=query).data
            for raw in page["data"]:
                yield Event.from_json(raw)
                after = raw["id"]
            if page["has_more"]:
                continue
            if not follow:
                return
            time.sleep(interval)

    def newest(self) -> Optional[Event]:
        data = self._client.request("GET", "/v1/events", query={"limit": 1}).data["data"]
        return Event.from_json(data[0]) if data else None
