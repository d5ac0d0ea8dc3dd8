"""One address, forgotten: what its owner may ask of a customer of ours, and the customer of us."""

from typing import Any

from django.db.models import QuerySet

from accounts import audit
from accounts.engine import engine
from accounts.models import Account, User
from validation.addresses import address_hash, masked
from validation.batches import delete_in_batches
from validation.models import LogEntry, Replay


def erase_address(*, email: str, account: Account | None, actor: User, ip: str | None) -> int:
    """However the address is written; of one account, or of all. Answers how many rows went.

    The books of use hold no addresses and stay.
    """
    gone = sum(delete_in_batches(rows) for rows in _rows_of(email, account))
    rows = "row" if gone == 1 else "rows"
    audit.record(account, actor, "address.erased", f"{masked_address(email)}: {gone} {rows}", ip)
    return gone


def count_rows(*, email: str, account: Account | None) -> int:
    return sum(rows.count() for rows in _rows_of(email, account))


def masked_address(email: str) -> str:
    """As the request log shows it."""
    parts = engine().check_without_dns(email).parts
    return masked(email, parts.domain if parts else None)


def _rows_of(email: str, account: Account | None) -> tuple[QuerySet[Any], QuerySet[Any]]:
    # The index of the replays begins with the account: all of them named are looked up one by one,
    # where the hash alone would have every row read.
    accounts = Account.objects.filter(pk=account.pk) if account else Account.objects.all()
    wanted = {"account__in": accounts, "address_hash": address_hash(email)}
    return LogEntry.objects.filter(**wanted), Replay.objects.filter(**wanted)
