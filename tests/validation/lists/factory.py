"""Lists that are parsed and ready to start."""

from collections.abc import Sequence

from accounts.models import Account
from apikeys.models import ApiKey
from validation.engine.syntax.parsing import AddressParts, parse_address
from validation.lists.control import Start, start_list
from validation.lists.payloads import RowKind, Rows
from validation.models import AddressList, DomainBlock, ListChunk, ListDomain
from validation.models.list_states import State


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
        account=account, key=key, state=State.READY, **{**defaults, **counts, **fields}
    )
    for start in range(0, len(emails), chunk_rows):
        part = emails[start : start + chunk_rows]
        rows = Rows([[email] for email in part], RowKind.ADDRESS * len(part), [])
        number = start // chunk_rows
        ListChunk.objects.create(list=address_list, number=number, rows=rows.pack())
    _store_domains(address_list, emails, block_domains)
    return address_list


def _store_domains(address_list: AddressList, emails: Sequence[str], size: int) -> None:
    parsed = [parse_address(email) for email in emails]
    domains = dict.fromkeys(part.ascii_domain for part in parsed if isinstance(part, AddressParts))
    ListDomain.objects.bulk_create(
        ListDomain(list=address_list, domain=domain, block=index // size)
        for index, domain in enumerate(domains)
    )
    DomainBlock.objects.bulk_create(
        DomainBlock(list=address_list, number=number) for number in range(-(-len(domains) // size))
    )


def make_started_list(account: Account, emails: Sequence[str], **fields: object) -> AddressList:
    address_list = make_list(account, emails, **fields)  # type: ignore[arg-type]
    return start_list(address_list=address_list, start=Start(), actor=None)
