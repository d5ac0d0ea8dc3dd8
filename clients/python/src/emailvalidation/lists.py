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
from typing import (
    TYPE_CHECKING,
    Any,
    BinaryIO,
    Callable,
    Optional,
    Union,
)

from emailvalidation._calls import Deadline, build_request, run_call
from emailvalidation.errors import DeadlineExceeded, EmailValidationError
from emailvalidation.types import AddressList, ListPreview, ListSample

if TYPE_CHECKING:
    from emailvalidation.client import Client

PART_BYTES = 8_000_000
PART_TIMEOUT = 300.0
_MAX_WAIT = 20
_RUNNING = {"uploading", "parsing", "queued", "running"}
_FAILED = {"failed", "canceled", "expired"}

Source = Union[str, "os.PathLike[str]", Iterable[str]]
# Called with the bytes or addresses that are done, and with how many there are.
Progress = Callable[[int, int], object]


class ListFailed(EmailValidationError):
    """The list ended without what was asked for. `code` says why."""

    def __init__(self, address_list: AddressList) -> None:
        error = address_list.error
        super().__init__(
            error.message if error else f"The list is {address_list.state}.",
            code=error.code if error else address_list.state,
        )
        self.list = address_list

    def __str__(self) -> str:
        return self.message

    # So that other processes, such as workers of a pool, can pass it on.
    def __reduce__(self) -> tuple[type[ListFailed], tuple[AddressList]]:
        return type(self), (self.list,)


class Lists:
    def __init__(self, client: Client) -> None:
        self._client = client

    def create(
        self,
        source: Source,
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
            body = {"emails": list(source), "start": start, **_given(options, name=name)}
            return self._post("", body)
        path = Path(source)
        chosen = column if isinstance(column, int) else None
        # A named column is looked up in the file's header before anything is started.
        starts = start and not isinstance(column, str)
        body = _given(options, name=name or path.name, column=chosen, parts=True, start=starts)
        created = self._post("", body)
        uploaded = self.upload(created.id, path, on_progress=on_progress)
        if start and isinstance(column, str):
            return self.start(created.id, column=self.find_column(created.id, column))
        return uploaded

    def upload(
        self,
        list_id: str,
        path: Union[str, os.PathLike[str]],
        *,
        on_progress: Optional[Progress] = None,
    ) -> AddressList:
        """Send the parts of a file that aren't stored yet, and have them read.

        Call it again after an interruption: it continues.
        """
        stored = self._stored_parts(list_id)
        total, done = os.stat(path).st_size, 0
        with open(path, "rb") as file:
            for number, part in enumerate(_read_parts(file), 1):
                digest = hashlib.sha256(part)
                if stored.get(number) != digest.hexdigest():
                    self._client.request(
                        "PUT",
                        f"/v1/lists/{list_id}/parts/{number}",
                        body=part,
                        headers={
                            "Content-Type": "application/octet-stream",
                            "Content-Digest": f"sha-256=:{b64encode(digest.digest()).decode()}:",
                        },
                        timeout=PART_TIMEOUT,
                    )
                done += len(part)
                if on_progress:
                    on_progress(done, total)
        return self._post(f"/{list_id}/parse")

    def find_column(self, list_id: str, name: str) -> int:
        """Return the number of the column with this name in the header."""
        self.wait(list_id, until="ready")
        header = self.preview(list_id).header or []
        wanted = name.strip().casefold()
        for number, title in enumerate(header):
            if title.strip().casefold() == wanted:
                return number
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
        after: Optional[str] = None
        while True:
            query = {"limit": 100, "starting_after": after, "state": state}
            page = self._client.request("GET", "/v1/lists", query=query).data
            yield from map(AddressList.from_json, page["data"])
            after = page["next"]
            if not after:
                return

    def wait(
        self,
        address_list: Union[AddressList, str],
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
        list_id = _id(address_list)
        deadline = Deadline(math.inf if timeout is None else timeout)
        while True:
            # One try gets a third of the time, and must be longer than the wait.
            wait = int(min(_MAX_WAIT, max(0, deadline.left) / 4))
            # The last look has a second, also when the time is over.
            most = min(4.0 * wait + 30, max(1.0, deadline.left))
            current = self.get(list_id, wait=wait, timeout=most)
            if on_progress:
                on_progress(current)
            if current.state in _FAILED or (current.error and not current.results_at):
                raise ListFailed(current)
            if _has_reached(current, until):
                return current
            if deadline.left <= 0:
                raise DeadlineExceeded(
                    f"The list {list_id} is {current.state} after {timeout:g} s."
                )
            # The API responds at once to a wait of 0.
            if current.state not in _RUNNING or not wait:
                time.sleep(min(1.0, max(0.0, deadline.left)))

    def start(
        self,
        address_list: Union[AddressList, str],
        *,
        column: Optional[int] = None,
        idempotency_key: Optional[str] = None,
        **options: Any,
    ) -> AddressList:
        """Start a ready list. Options: `max_credits`, `encoding`, `extract`, `check`, `confirm`."""
        body = _given(options, column=column)
        return self._post(f"/{_id(address_list)}/start", body, idempotency_key)

    def pause(self, address_list: Union[AddressList, str]) -> AddressList:
        return self._post(f"/{_id(address_list)}/pause")

    def resume(self, address_list: Union[AddressList, str]) -> AddressList:
        return self._post(f"/{_id(address_list)}/resume")

    def finish(self, address_list: Union[AddressList, str]) -> AddressList:
        """Complete the list without checking unknown addresses again."""
        return self._post(f"/{_id(address_list)}/finish")

    def cancel(self, address_list: Union[AddressList, str]) -> AddressList:
        return self._post(f"/{_id(address_list)}/cancel")

    def delete(self, address_list: Union[AddressList, str]) -> None:
        self._client.request("DELETE", f"/v1/lists/{_id(address_list)}")

    def preview(self, address_list: Union[AddressList, str]) -> ListPreview:
        path = f"/v1/lists/{_id(address_list)}/preview"
        return ListPreview.from_json(self._client.request("GET", path).data)

    def sample(self, address_list: Union[AddressList, str]) -> ListSample:
        """Check 200 random addresses for free."""
        path = f"/v1/lists/{_id(address_list)}/sample"
        return ListSample.from_json(self._client.request("POST", path, timeout=120).data)

    def download(
        self,
        address_list: Union[AddressList, str],
        to: Union[str, os.PathLike[str]],
        *,
        format: str = "csv",
        filter: str = "all",
        columns: Sequence[str] = (),
        formulas: Optional[str] = None,
        partial: bool = False,
        timeout: float = 3600.0,
    ) -> Path:
        """Write the rows with their results to a file, which appears when it is complete."""
        target = Path(to)
        query = {
            "format": format,
            "filter": filter,
            "columns": ",".join(columns) or None,
            "formulas": formulas,
            "partial": True if partial else None,
        }
        request = build_request("GET", f"/v1/lists/{_id(address_list)}/download", query=query)
        # `tempfile` would make a file that only its owner may read, and the process's mask can't
        # be read without changing it for all threads.
        name = target.with_name(f".{target.name[:200]}.{secrets.token_hex(4)}")
        try:
            with open(name, "xb") as request.to:
                self._client.run(run_call(request, Deadline(timeout)))
            os.replace(name, target)
        except BaseException:
            with suppress(OSError):
                os.unlink(name)
            raise
        return target

    def _stored_parts(self, list_id: str) -> dict[int, str]:
        stored: dict[int, str] = {}
        after: Optional[int] = None
        while True:
            query = {"limit": 1000, "starting_after": after}
            page = self._client.request("GET", f"/v1/lists/{list_id}/parts", query=query).data
            stored.update((part["number"], part["sha256"]) for part in page["data"])
            if not page["has_more"]:
                return stored
            after = page["data"][-1]["number"]

    def _post(
        self, path: str, body: Optional[dict[str, Any]] = None, key: Optional[str] = None
    ) -> AddressList:
        response = self._client.request(
            "POST", f"/v1/lists{path}", json=body, idempotency_key=key, timeout=120
        )
        return AddressList.from_json(response.data)


def _id(address_list: Union[AddressList, str]) -> str:
    return address_list if isinstance(address_list, str) else address_list.id


def _given(options: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {name: value for name, value in {**options, **more}.items() if value is not None}


def _read_parts(file: BinaryIO) -> Iterator[bytes]:
    while part := file.read(PART_BYTES):
        yield part


def _has_reached(current: AddressList, until: str) -> bool:
    if until == "ready":
        return current.state not in ("uploading", "parsing")
    if until == "results":
        return current.results_at is not None
    return current.state == "completed"
