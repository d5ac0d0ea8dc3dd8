"""Upload and parse lists in tests."""

from typing import Any

from accounts.models import Account
from apikeys.actor import Actor
from lists.models import AddressList, ListChunk
from lists.packing import RowKind, Rows
from lists.uploads.options import ListOptions
from lists.uploads.parsing import parse_list
from lists.uploads.services import upload_list


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
    upload(account, content, **options)
    return parse()


def rows_of(address_list: AddressList) -> list[Rows]:
    chunks = ListChunk.objects.filter(list=address_list).order_by("first_row")
    stored = [Rows.unpack(chunk.rows) for chunk in chunks]
    return [Rows([*rows.cells], rows.kinds, rows.originals) for rows in stored]


def kinds_of(address_list: AddressList) -> list[RowKind]:
    return [RowKind(kind) for rows in rows_of(address_list) for kind in rows.kinds]
