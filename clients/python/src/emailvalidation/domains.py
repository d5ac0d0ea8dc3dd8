"""The account's own domains: allowed and denied ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from emailvalidation.errors import InvalidRequestError
from emailvalidation.types import Domains as DomainLists

if TYPE_CHECKING:
    from emailvalidation.client import Client


class Domains:
    def __init__(self, client: Client) -> None:
        self._client = client

    def get(self) -> DomainLists:
        return DomainLists.from_json(self._client.request("GET", "/v1/domains").data)

    def replace(self, *, allowed: Sequence[str], denied: Sequence[str]) -> DomainLists:
        body = {"allowed": list(allowed), "denied": list(denied)}
        return DomainLists.from_json(self._client.request("PUT", "/v1/domains", json=body).data)

    def allow(self, *domains: str) -> DomainLists:
        """Add domains, and keep what other programs change at the same time."""
        return self._add("allowed", domains)

    def deny(self, *domains: str) -> DomainLists:
        """Add domains, and keep what other programs change at the same time."""
        return self._add("denied", domains)

    def _add(self, name: str, domains: Sequence[str]) -> DomainLists:
        while True:
            response = self._client.request("GET", "/v1/domains")
            stored = DomainLists.from_json(response.data)
            body = {"allowed": stored.allowed, "denied": stored.denied}
            # A dictionary drops those that are there, and keeps the order.
            body[name] = list(dict.fromkeys([*body[name], *domains]))
            headers = {"If-Match": response.headers.get("etag", "*")}
            try:
                changed = self._client.request("PUT", "/v1/domains", json=body, headers=headers)
            except InvalidRequestError as error:
                # The lists were changed since they were read.
                if error.status != 412:
                    raise
            else:
                return DomainLists.from_json(changed.data)
