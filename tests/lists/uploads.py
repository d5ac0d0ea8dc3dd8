"""Upload and parse lists in tests."""

from copy import copy
from typing import Any

from accounts.models import Account
from apikeys.actor import Actor
from lists.models import AddressList, ListChunk, ParsedList
from lists.models.states import ListState
from lists.packing import RowKind, Rows
from lists.uploads.options import ListOptions
from lists.uploads.parsing import parse_list
from lists.uploads.services import upload_list

# What parsing found and the rows of each chunk, by content and options.
_parsed: dict[tuple[bytes | str, str], tuple[ParsedList, list[ListChunk]]] = {}


def upload(account: Account, content: bytes | str, **options: Any) -> AddressList:
    data = content.encode() if isinstance(content, str) else content
    return upload_list(actor=Actor(account), content=data, options=ListOptions(**options))


def parse() -> AddressList:
    """Parse the next list as a list process does."""
    claimed = AddressList.objects.claim()
    assert claimed is not None
    parse_list(claimed)
    return AddressList.objects.get(pk=claimed.pk)


def upload_and_parse(account: Account, content: bytes | str, **options: Any) -> AddressList:
    """Upload and parse a list.

    A process reads the file only the first time. After that, the list is parsed from stored rows,
    as if its column had been changed.
    """
    uploaded = upload(account, content, **options)
    stored = _parsed.get((content, str(options)))
    if stored:
        rows: list[Any] = [stored[0], *stored[1]]
        for row in map(copy, rows):
            row.pk = None
            row.list = uploaded
            row.save(force_insert=True)
    ready = parse()
    # The file of a list whose encoding isn't certain may be read again.
    if not stored and ready.state == ListState.READY and not ready.parts.exists():
        _parsed[content, str(options)] = ready.parsed, [*ready.chunks.all()]
    return ready


def rows_of(address_list: AddressList) -> list[Rows]:
    chunks = ListChunk.objects.filter(list=address_list).order_by("first_row")
    stored = [Rows.unpack(chunk.rows) for chunk in chunks]
    return [Rows([*rows.cells], rows.kinds, rows.originals) for rows in stored]


def kinds_of(address_list: AddressList) -> list[RowKind]:
    return [RowKind(kind) for rows in rows_of(address_list) for kind in rows.kinds]
