"""One address, forgotten: what its owner may ask of a customer of ours, and the customer of us."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet

from accounts import audit
from accounts.engine import engine
from accounts.models import Account, User
from runtime.database.batches import delete_in_batches
from validation.addresses import address_hash, masked
from validation.models import LogEntry, Replay


def erase_address(*, email: str, account: Account | None, actor: User, ip: str | None) -> int:
    """However the address is written; of one account, or of all. Answers how many rows went.

    The books of use hold no addresses and stay.
    """
    # Noted first: who is interrupted has erased nothing that nobody knows of.
    for concerned in [account] if account else [None, *_accounts_with(email)]:
        audit.record(concerned, actor, "address.erased", masked_address(email), ip)
    return sum(delete_in_batches(rows) for rows in _rows_of(email, account))


@dataclass(frozen=True)
class Found:
    requests: int
    # Answers kept to be repeated.
    answers: int

    @property
    def total(self) -> int:
        return self.requests + self.answers

    @property
    def words(self) -> str:
        requests = "1 request" if self.requests == 1 else f"{self.requests:,} requests"
        answers = "1 answer" if self.answers == 1 else f"{self.answers:,} answers"
        return f"{requests} in the log and {answers} to repeat"


def count_rows(*, email: str, account: Account | None) -> Found:
    requests, answers = (rows.count() for rows in _rows_of(email, account))
    return Found(requests, answers)


def masked_address(email: str) -> str:
    """As the request log shows it."""
    parts = engine().check_without_dns(email).parts
    return masked(email, parts.domain if parts else None)


def _accounts_with(email: str) -> QuerySet[Account]:
    """Whose owners are told that their log lost rows."""
    log, answers = (rows.order_by().values("account") for rows in _rows_of(email, None))
    return Account.objects.filter(Q(pk__in=log) | Q(pk__in=answers))


def _rows_of(email: str, account: Account | None) -> tuple[QuerySet[Any], QuerySet[Any]]:
    # The index of the replays begins with the account: all of them named are looked up one by one,
    # where the hash alone would have every row read.
    accounts = Account.objects.filter(pk=account.pk) if account else Account.objects.all()
    wanted = {"account__in": accounts, "address_hash": address_hash(email)}
    return LogEntry.objects.filter(**wanted), Replay.objects.filter(**wanted)
