"""Erase one address from the request log, stored results, stored replays, lists and feedback."""

from dataclasses import dataclass
from functools import reduce
from operator import or_

from django.db.models import Q, QuerySet
from django.template.defaultfilters import pluralize

from accounts import audit
from accounts.engine import get_engine
from accounts.models import Account, User
from runtime.database.batches import delete_in_batches
from validation.addresses import address_hash, mask_address
from validation.lists.deletion.erasure import (
    erase_from_list,
    erase_when_parsed,
    lists_with_address,
    readable_lists,
)
from validation.models import AddressList, Feedback, LogEntry, Replay
from validation.models.log_entries import LogEntryQuerySet
from validation.results.stored_results import erase_results


def erase_address(*, email: str, account: Account | None, actor: User, ip: str | None) -> int:
    """Erase the address in upper and lower case, in all accounts if `account` is None.

    Return the number of deleted rows. Usage totals contain no addresses and stay. Call it outside a
    transaction.
    """
    # Recorded first: an interrupted erasure must not leave deletions without an audit entry.
    for affected in [account] if account else [None, *_accounts_with(email)]:
        audit.record(affected, actor, "address.erased", parse_and_mask(email), ip)
    erase_when_parsed(email, account)
    requests, replays, lists, feedback = _matching_rows(email, account)
    # Not counted: each belongs to a request.
    erase_results(requests)
    deleted = requests.delete_in_batches() + sum(map(delete_in_batches, (replays, feedback)))
    return deleted + sum(erase_from_list(address_list, email) for address_list in lists)


@dataclass(frozen=True)
class ErasureCount:
    requests: int
    replays: int
    lists: int
    feedback: int = 0
    # Lists that will be read, or may be read again with another column, and may have the address.
    readable_lists: int = 0

    @property
    def is_possible(self) -> bool:
        return bool(self.total or self.readable_lists)

    @property
    def total(self) -> int:
        return self.requests + self.replays + self.lists + self.feedback

    @property
    def summary(self) -> str:
        requests = "1 request" if self.requests == 1 else f"{self.requests:,} requests"
        replays = "1 stored response" if self.replays == 1 else f"{self.replays:,} stored responses"
        lists = "1 list" if self.lists == 1 else f"{self.lists:,} lists"
        count = f"{self.feedback:,} message{pluralize(self.feedback)}"
        optional = [(self.feedback, f"{count} of feedback"), (self.lists, f"its rows in {lists}")]
        *first, last = [requests, replays, *(text for count, text in optional if count)]
        comma = "," if len(first) > 1 else ""
        return f"{', '.join(first)}{comma} and {last}"


def count_rows(*, email: str, account: Account | None) -> ErasureCount:
    requests, replays, lists, feedback = (rows.count() for rows in _matching_rows(email, account))
    return ErasureCount(requests, replays, lists, feedback, readable_lists(account).count())


def parse_and_mask(email: str) -> str:
    """Mask the address as the request log does."""
    parts = get_engine().check_without_dns(email).parts
    return mask_address(email, parts.domain if parts else None)


def _accounts_with(email: str) -> QuerySet[Account]:
    """Return the accounts whose own audit log must show that they lost rows."""
    rows = (rows.order_by().values("account") for rows in _matching_rows(email, None))
    return Account.objects.filter(reduce(or_, (Q(pk__in=accounts) for accounts in rows)))


def _matching_rows(
    email: str, account: Account | None
) -> tuple[LogEntryQuerySet, QuerySet[Replay], QuerySet[AddressList], QuerySet[Feedback]]:
    # The index on replays starts with the account. Naming the accounts turns the search for a hash
    # into one index lookup per account instead of a scan of all replays.
    accounts = Account.objects.filter(pk=account.pk) if account else Account.objects.all()
    return (
        LogEntry.objects.filter(account__in=accounts, address_hash=address_hash(email)),
        Replay.objects.with_address(email).filter(account__in=accounts),
        lists_with_address(email).filter(account__in=accounts),
        Feedback.objects.filter(account__in=accounts, address_hash=address_hash(email)),
    )
