"""Files of addresses: upload, wait, download."""

from __future__ import annotations

import hashlib
import math
import os
import secrets
import time
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Optional, Union

from emailvalidation._calls import Deadline
from emailvalidation._core import given
from emailvalidation.errors import DeadlineExceeded, EmailValidationError
from emailvalidation.types import (
    AddressList,
    AddressListPage,
    ListPartPage,
    ListPreview,
    ListSample,
)

if TYPE_CHECKING:
    from emailvalidation.client import Client

PART_BYTES = 8_000_000
PART_TIMEOUT = 300.0
_MAX_WAIT = 20

# A list, or its ID.
Named = Union[AddressList, str]
File = Union[str, "os.PathLike[str]"]
# Called with the bytes that are sent, and with how many there are.
Progress = Callable[[int, int], object]


class ListFailed(EmailValidationError):
    """The list ended without what was asked for. `code` says why."""

    def __init__(self, address_list: AddressList) -> None:
        error = address_list.error
        message = error.message if error else f"The list is {address_list.state}."
        super().__init__(message, code=error.code if error else address_list.state)
        self.list = address_list


class Lists:
    def __init__(self, client: Client) -> None:
        self._client = client

    def create(
        self,
        source: Union[File, Iterable[str]],
        *,
        name: Optional[str] = None,
        column: Union[int, str, None] = None,
        start: bool = True,
        on_progress: Optional[Progress] = None,
        **options: Any,
    ) -> AddressList:
        """Upload a file, or addresses, and start the list unless `start=False`.

        `column` is a name in the header, or a number from 0; without it, the column is found.
        Options: `encoding`, `delimiter`, `header`, `dedupe`, `extract`, `check`, `max_credits`,
        `recheck_unknown`, `metadata`.
        """
        if not isinstance(source, (str, os.PathLike)):
            return self._post("", emails=list(source), start=start, name=name, **options)
        # A named column is looked up in the file's header before anything is started.
        is_named = isinstance(column, str)
        choice = {"start": False} if is_named else {"start": start, "column": column}
        name = name or Path(source).name
        created = self._post("", name=name, parts=True, **choice, **options)
        uploaded = self.upload(created.id, source, on_progress=on_progress)
        if start and isinstance(column, str):
            return self.start(created, column=self.find_column(created.id, column))
        return uploaded

    def upload(
        self, list_id: str, path: File, *, on_progress: Optional[Progress] = None
    ) -> AddressList:
        """Send the parts of a file that aren't stored yet, and have them read.

        Call it again after an interruption: it continues.
        """
        # A page has more parts than the largest file.
        page = self._client.request("GET", f"/v1/lists/{list_id}/parts", query={"limit": 1000})
        stored = {(part.number, part.sha256) for part in ListPartPage.from_json(page.data).data}
        total, done, number = os.stat(path).st_size, 0, 0
        with open(path, "rb") as file:
            while body := file.read(PART_BYTES):
                number += 1
                digest = hashlib.sha256(body)
                if (number, digest.hexdigest()) not in stored:
                    headers = {
                        "Content-Type": "application/octet-stream",
                        "Content-Digest": f"sha-256=:{b64encode(digest.digest()).decode()}:",
                    }
                    part = f"/v1/lists/{list_id}/parts/{number}"
                    self._client.request(
                        "PUT", part, body=body, headers=headers, timeout=PART_TIMEOUT
                    )
                done += len(body)
                if on_progress:
                    on_progress(done, total)
        return self._post(f"/{list_id}/parse")

    def find_column(self, list_id: str, name: str) -> int:
        """Return the number of the column with this name in the header."""
        self.wait(list_id, until="ready")
        header = self.preview(list_id).header or []
        titles = [title.strip().casefold() for title in header]
        if name.strip().casefold() in titles:
            return titles.index(name.strip().casefold())
        raise ValueError(
            f"The file has no column {name!r}. Its columns: {', '.join(header) or 'no header'}."
        )

    def get(
        self, list_id: str, *, wait: Optional[int] = None, timeout: Optional[float] = None
    ) -> AddressList:
        """Return the list, or wait up to 20 seconds for another state."""
        if wait and timeout is None:
            # One try must be longer than the wait.
            timeout = 4 * wait + 30
        response = self._client.request(
            "GET", f"/v1/lists/{list_id}", query={"wait": wait}, timeout=timeout
        )
        return AddressList.from_json(response.data)

    def all(self, *, state: Optional[str] = None) -> Iterator[AddressList]:
        """Yield all lists, the newest first."""
        after: Optional[str] = ""
        while after is not None:
            query = {"limit": 100, "starting_after": after or None, "state": state}
            response = self._client.request("GET", "/v1/lists", query=query)
            page = AddressListPage.from_json(response.data)
            yield from page.data
            after = page.next

    def wait(
        self,
        address_list: Named,
        *,
        until: str = "results",
        timeout: Optional[float] = None,
        on_progress: Optional[Callable[[AddressList], object]] = None,
    ) -> AddressList:
        """Wait until the list is `ready` to start, has `results`, or is `completed`.

        With `results`, each address has one, while unknown ones may still be checked again.
        """
        if until not in ("ready", "results", "completed"):
            raise ValueError("until must be 'ready', 'results' or 'completed'.")
        deadline = Deadline(math.inf if timeout is None else timeout)
        while True:
            # One try gets a third of the time, and must be longer than the wait.
            wait = int(min(_MAX_WAIT, max(0, deadline.left) / 4))
            # The last look has a second, also when the time is over.
            most = min(4.0 * wait + 30, max(1.0, deadline.left))
            current = self.get(_id(address_list), wait=wait, timeout=most)
            if on_progress:
                on_progress(current)
            is_over = current.state in ("failed", "canceled", "expired")
            if is_over or (current.error and not current.results_at):
                raise ListFailed(current)
            reached = {
                "ready": current.state not in ("uploading", "parsing"),
                "results": current.results_at is not None,
                "completed": current.state == "completed",
            }
            if reached[until]:
                return current
            if deadline.left <= 0:
                raise DeadlineExceeded(
                    f"The list {current.id} is {current.state} after {timeout:g} s."
                )
            # The API responds at once to a wait of 0.
            if not wait or current.state not in ("uploading", "parsing", "queued", "running"):
                time.sleep(min(1.0, max(0.0, deadline.left)))

    def start(
        self,
        address_list: Named,
        *,
        column: Optional[int] = None,
        idempotency_key: Optional[str] = None,
        **options: Any,
    ) -> AddressList:
        """Start a ready list. Options: `max_credits`, `encoding`, `extract`, `check`, `confirm`."""
        path = f"/{_id(address_list)}/start"
        return self._post(path, idempotency_key, column=column, **options)

    def pause(self, address_list: Named) -> AddressList:
        return self._post(f"/{_id(address_list)}/pause")

    def resume(self, address_list: Named) -> AddressList:
        return self._post(f"/{_id(address_list)}/resume")

    def finish(self, address_list: Named) -> AddressList:
        """Complete the list without checking unknown addresses again."""
        return self._post(f"/{_id(address_list)}/finish")

    def cancel(self, address_list: Named) -> AddressList:
        return self._post(f"/{_id(address_list)}/cancel")

    def delete(self, address_list: Named) -> None:
        self._client.request("DELETE", f"/v1/lists/{_id(address_list)}")

    def preview(self, address_list: Named) -> ListPreview:
        path = f"/v1/lists/{_id(address_list)}/preview"
        return ListPreview.from_json(self._client.request("GET", path).data)

    def sample(self, address_list: Named) -> ListSample:
        """Check 200 random addresses for free."""
        path = f"/v1/lists/{_id(address_list)}/sample"
        return ListSample.from_json(self._client.request("POST", path, timeout=120).data)

    def download(
        self,
        address_list: Named,
        to: File,
        *,
        format: str = "csv",
        filter: str = "all",
        columns: Sequence[str] = (),
        formulas: Optional[str] = None,
        partial: bool = False,
        timeout: float = 3600.0,
    ) -> Path:
        """Write the rows with their results to a file, which appears when it is complete."""
        target, path = Path(to), f"/v1/lists/{_id(address_list)}/download"
        choice = {"columns": ",".join(columns) or None, "partial": partial or None}
        query = {"format": format, "filter": filter, "formulas": formulas, **choice}
        # `tempfile` would make a file that only its owner may read, and the process's mask can't
        # be read without changing it for all threads.
        name = target.with_name(f".{target.name[:200]}.{secrets.token_hex(4)}")
        try:
            with open(name, "xb") as file:
                self._client.request("GET", path, query=query, timeout=timeout, to=file)
            os.replace(name, target)
        except BaseException:
            with suppress(OSError):
                os.unlink(name)
            raise
        return target

    def _post(
        self, path: str, idempotency_key: Optional[str] = None, **options: Any
    ) -> AddressList:
        response = self._client.request(
            "POST",
            f"/v1/lists{path}",
            json=given(**options),
            idempotency_key=idempotency_key,
            timeout=120,
        )
        return AddressList.from_json(response.data)


def _id(address_list: Named) -> str:
    return address_list if isinstance(address_list, str) else address_list.id
