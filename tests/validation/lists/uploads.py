"""Upload and parse lists in tests."""

from typing import Any

from accounts.models import Account
from apikeys.actor import Actor
from validation.lists.payloads import RowKind, Rows
from validation.lists.services import upload_list
from validation.lists.uploads.options import ListOptions
from validation.lists.uploads.parsing import parse_list
from validation.models import AddressList, ListChunk


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
    chunks = ListChunk.objects.filter(list=address_list).order_by("number")
    return [Rows.unpack(bytes(chunk.rows)) for chunk in chunks]


def kinds_of(address_list: AddressList) -> list[RowKind]:
    return [RowKind(kind) for rows in rows_of(address_list) for kind in rows.kinds]
