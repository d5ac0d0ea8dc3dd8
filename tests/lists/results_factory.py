"""Lists with results, written without the list processes."""

from collections import Counter
from typing import Any

from django.utils import timezone

from accounts.engine import get_engine
from accounts.models import Account
from engine import sandbox_word
from lists.models import AddressList, ListChunk
from lists.models.states import ListState
from lists.packing import RowKind, Rows, pack_lines
from tests.lists.uploads import upload_and_parse

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


def make_ready_list(account: Account, content: bytes = CSV, **options: Any) -> AddressList:
    ready = upload_and_parse(account, content, **options)
    assert ready.state == ListState.READY, ready.error_message
    # Give the list a price, although addresses of the sandbox are free.
    AddressList.objects.filter(pk=ready.pk).update(sandbox_addresses=0)
    ready.refresh_from_db()
    return ready


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
