from collections.abc import Iterable
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
from validation.hooks import AddressErasure, address_erasures, on_address_erased
from validation.models import Feedback, LogEntry, Replay
from validation.models.log_entries import LogEntryQuerySet
from validation.models.replays import ReplayQuerySet
from validation.probes.data import erase_address as erase_probes
from validation.results.stored_results import erase_results


def erase_address(*, email: str, account: Account | None, actor: User) -> int:
    """Erase the address, in all accounts if `account` is None, and return the deleted rows.

    Call it outside a transaction.
    """
    affected_accounts: Iterable[Account | None] = [account]
    if account is None:
        rows = (rows.order_by().values("account") for rows in _matching_rows(email, None))
        having = (*rows, _find_in_lists(email, None).accounts)
        found = Account.objects.filter(reduce(or_, (Q(pk__in=some) for some in having)))
        affected_accounts = [None, *found]
    # First: an interrupted erasure must not leave deletions without an audit entry.
    for affected in affected_accounts:
        audit.record(affected, actor, "address.erased", parse_and_mask(email))
    requests, replays, feedback = _matching_rows(email, account)
    erase_results(email, requests, replays)
    erase_probes(email=email, account=account)
    deleted = requests.delete_in_batches() + sum(map(delete_in_batches, (replays, feedback)))
    return deleted + sum(erase(email=email, account=account) for erase in on_address_erased)


@dataclass(frozen=True)
class ErasureCount:
    requests: int
    replays: int
    lists: int
    feedback: int = 0
    # Lists that may still be parsed, and have the address.
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
    requests, replays, feedback = (rows.count() for rows in _matching_rows(email, account))
    lists = _find_in_lists(email, account)
    return ErasureCount(requests, replays, lists.lists, feedback, lists.readable_lists)


def parse_and_mask(email: str) -> str:
    parts = get_engine().check_offline(email).parts
    return mask_address(email, parts.domain if parts else None)


def _find_in_lists(email: str, account: Account | None) -> AddressErasure:
    (find,) = address_erasures
    return find(email=email, account=account)


def _matching_rows(
    email: str, account: Account | None
) -> tuple[LogEntryQuerySet, ReplayQuerySet, QuerySet[Feedback]]:
    accounts = Account.objects.filter(pk=account.pk) if account else Account.objects.all()
    return (
        LogEntry.objects.filter(account__in=accounts, address_hash=address_hash(email)),
        Replay.objects.with_address(email).filter(account__in=accounts),
        Feedback.objects.filter(account__in=accounts, address_hash=address_hash(email)),
    )
