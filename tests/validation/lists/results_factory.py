"""Lists with results, written without the list processes."""

from collections import Counter
from typing import Any

from django.utils import timezone

from accounts.engine import get_engine
from accounts.models import Account
from apikeys.actor import Actor
from validation.engine.sandbox import sandbox_finding, sandbox_word
from validation.lists.payloads import RowKind, Rows, pack_results
from validation.lists.services import upload_list
from validation.lists.uploads.options import ListOptions
from validation.lists.uploads.parsing import parse_list
from validation.models import AddressList, ListChunk
from validation.models.list_states import State

CSV = (
    b"name,email,note\r\n"
    b'"Doe, Jane",deliverable@sandbox.test,"says ""hi"""\r\n'
    b"Risky,risky@sandbox.test,=1+1\r\n"
    b"Nothing,,\r\n"
    b"Text,no address,-\r\n"
    b"Again,deliverable@sandbox.test,repeated,and,wide\r\n"
    b"Unknown,unknown@sandbox.test\r\n"
    b"Gone,mailbox_not_found@sandbox.test,\r\n"
)
# The preview and the rows of each chunk, by content and options.
_parsed: dict[tuple[bytes, str], tuple[bytes, list[bytes]]] = {}


def make_ready_list(account: Account, content: bytes = CSV, **options: Any) -> AddressList:
    """Upload and parse a list.

    A process reads the file only the first time. After that, the list is parsed from stored rows,
    as if its column had been changed.
    """
    upload_list(actor=Actor(account), content=content, options=ListOptions(**options))
    claimed = AddressList.objects.claim()
    assert claimed is not None
    stored = _parsed.get((content, str(options)))
    if stored:
        _store_rows(claimed, *stored)
    parse_list(claimed)
    ready = AddressList.objects.get(pk=claimed.pk)
    assert ready.state == State.READY, ready.error_message
    if not stored:
        rows = [bytes(chunk.rows) for chunk in ListChunk.objects.filter(list=ready)]
        _parsed[content, str(options)] = bytes(ready.preview), rows
    return ready


def _store_rows(address_list: AddressList, preview: bytes, chunks: list[bytes]) -> None:
    address_list.preview = preview
    address_list.save(update_fields=["preview"])
    for number, rows in enumerate(chunks):
        ListChunk.objects.create(list=address_list, number=number, rows=rows)


def make_list(
    account: Account, content: bytes = CSV, state: State = State.COMPLETED, **options: Any
) -> AddressList:
    """Upload and parse a list, and store the results of all its chunks."""
    address_list = make_ready_list(account, content, **options)
    counts: Counter[str] = Counter()
    for chunk in ListChunk.objects.filter(list=address_list):
        counts.update(store_results(address_list, chunk))
    set_state(address_list, state, checked=counts.total(), **counts)
    return address_list


def store_results(address_list: AddressList, chunk: ListChunk) -> list[str]:
    """Store a chunk's results and return their verdicts."""
    rows = Rows.unpack(bytes(chunk.rows))
    column = address_list.column or 0
    results = [
        check(cells[column].strip())
        for cells, kind in zip(rows.cells, rows.kinds, strict=True)
        if kind == RowKind.ADDRESS
    ]
    chunk.results, chunk.is_done = pack_results(results), True
    chunk.save()
    return [result["verdict"] for result in results]


def check(email: str) -> dict[str, Any]:
    finding, word = get_engine().check_without_dns(email), sandbox_word(email)
    return (sandbox_finding(finding, word) if word else finding).document()


def set_state(address_list: AddressList, state: State, **changes: object) -> None:
    now = timezone.now()
    values = {"state": state, "started_at": now, **changes}
    AddressList.objects.filter(pk=address_list.pk).update(**values)
    address_list.refresh_from_db()
