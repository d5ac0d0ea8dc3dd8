"""Lists with results, written without the list processes."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from accounts.engine import get_engine
from accounts.models import Account
from apikeys.actor import Actor
from engine import sandbox_word
from lists.models import AddressList, ListChunk, ParsedList
from lists.models.states import ListState
from lists.packing import RowKind, Rows, pack_lines
from lists.uploads.options import ListOptions
from lists.uploads.parsing import parse_list
from lists.uploads.services import upload_list

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
# What parsing found and the rows of each chunk, by content and options.
_parsed: dict[tuple[bytes, str], tuple[ParsedList, list[ListChunk]]] = {}


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
    # Give the list a price, although addresses of the sandbox are free.
    AddressList.objects.filter(pk=claimed.pk).update(sandbox_addresses=0)
    ready = AddressList.objects.get(pk=claimed.pk)
    assert ready.state == ListState.READY, ready.error_message
    if not stored:
        _parsed[content, str(options)] = ready.parsed, [*ListChunk.objects.filter(list=ready)]
    return ready


def _store_rows(address_list: AddressList, parsed: ParsedList, chunks: Sequence[ListChunk]) -> None:
    ParsedList.objects.create(
        list=address_list, preview=parsed.preview, width=parsed.width, repeated=parsed.repeated
    )
    for chunk in chunks:
        ListChunk.objects.create(
            list=address_list, first_row=chunk.first_row, row_count=chunk.row_count, rows=chunk.rows
        )


def make_list(
    account: Account, content: bytes = CSV, state: ListState = ListState.COMPLETED, **options: Any
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
    chunk.results, chunk.is_done = pack_lines(results), True
    chunk.save()
    return [result["verdict"] for result in results]


def check(email: str) -> dict[str, Any]:
    engine, word = get_engine(), sandbox_word(email)
    return (engine.simulate(email, word) if word else engine.check_offline(email)).document()


def set_state(address_list: AddressList, state: ListState, **changes: object) -> None:
    now = timezone.now()
    values = {"state": state, "started_at": now, **changes}
    AddressList.objects.filter(pk=address_list.pk).update(**values)
    address_list.refresh_from_db()
