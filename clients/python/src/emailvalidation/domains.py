"""The account's own domains: allowed and denied ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Callable

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
        return self._change(lambda lists: (_add(lists.allowed, domains), lists.denied))

    def deny(self, *domains: str) -> DomainLists:
        """Add domains, and keep what other programs change at the same time."""
        return self._change(lambda lists: (lists.allowed, _add(lists.denied, domains)))

    def _change(self, change: Callable[[DomainLists], tuple[list[str], list[str]]]) -> DomainLists:
        while True:
            response = self._client.request("GET", "/v1/domains")
            allowed, denied = change(DomainLists.from_json(response.data))
            body = {"allowed": allowed, "denied": denied}
            headers = {"If-Match": response.headers["etag"]}
            try:
                stored = self._client.request("PUT", "/v1/domains", json=body, headers=headers)
            except InvalidRequestError as error:
                # The lists were changed since they were read.
                if error.status != 412:
                    raise
            else:
                return DomainLists.from_json(stored.data)


def _add(listed: list[str], domains: Sequence[str]) -> list[str]:
    return [*listed, *(domain for domain in domains if domain not in listed)]
