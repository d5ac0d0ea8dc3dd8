"""Lists that are parsed and ready to start."""

from collections.abc import Sequence

from accounts.models import Account
from apikeys.models import ApiKey
from engine.syntax.parsing import AddressParts, parse_address
from lists.lifecycle import Start, start_list
from lists.models import AddressList, DomainBlock, ListChunk, ListDomain, ParsedList
from lists.models.states import ListState
from lists.packing import RowKind, Rows
from lists.previews import FileFacts, StoredPreview


def make_list(
    account: Account,
    emails: Sequence[str],
    *,
    chunk_rows: int = 10,
    block_domains: int = 10,
    key: ApiKey | None = None,
    **fields: object,
) -> AddressList:
    """Store a list as the parser does. All addresses are distinct."""
    defaults = {"created_by": "owner@shop.example", "name": "customers.csv", "column": 0}
    counts = {"rows": len(emails), "addresses": len(emails)}
    address_list = AddressList.objects.create(
        account=account, key=key, state=ListState.READY, **{**defaults, **counts, **fields}
    )
    file = FileFacts("text", "utf-8", ",")
    preview = StoredPreview(file, [], None, [], len(emails), 0, 0, 0, [])
    ParsedList.objects.create(list=address_list, preview=preview.pack(), width=5, repeated=b"")
    for start in range(0, len(emails), chunk_rows):
        part = emails[start : start + chunk_rows]
        rows = Rows([[email] for email in part], RowKind.ADDRESS * len(part), [])
        ListChunk.objects.create(
            list=address_list, first_row=start, row_count=len(part), rows=rows.pack()
        )
    _store_domains(address_list, emails, block_domains)
    return address_list


def _store_domains(address_list: AddressList, emails: Sequence[str], size: int) -> None:
    parsed = [parse_address(email) for email in emails]
    domains = dict.fromkeys(part.ascii_domain for part in parsed if isinstance(part, AddressParts))
    AddressList.objects.filter(pk=address_list.pk).update(domains=len(domains))
    address_list.domains = len(domains)
    ListDomain.objects.bulk_create(
        ListDomain(list=address_list, domain=domain, block=index // size)
        for index, domain in enumerate(domains)
    )
    DomainBlock.objects.bulk_create(
        DomainBlock(list=address_list, number=start // size)
        for start in range(0, len(domains), size)
    )


def make_started_list(account: Account, emails: Sequence[str], **fields: object) -> AddressList:
    address_list = make_list(account, emails, **fields)  # type: ignore[arg-type]
    return start_list(address_list=address_list, start=Start(), actor=None)
