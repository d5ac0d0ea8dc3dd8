"""Work on lists in the test process, and read what came out of it."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
import time_machine
from django.db.models import Sum
from django.utils import timezone

from accounts.engine import get_engine
from accounts.models import Account
from credits.models import UseHour, Wallet
from credits.wallet.books import find_discrepancies
from lists.models import AddressList
from lists.packing import unpack_results
from lists.processing.running import work_once
from tests.lists.factory import make_started_list
from tests.servers.dns import FakeDns, servfail

BALANCE = 100
GOOD = [f"customer{number}@shop{number % 7}.com" for number in range(25)]
BAD = [f"customer{number}@nowhere{number % 3}.com" for number in range(12)]


@pytest.fixture(autouse=True)
def shops(fake_dns: FakeDns) -> None:
    for number in range(7):
        fake_dns.add_mail_domain(f"shop{number}.com")


@pytest.fixture
def half_known(account: Account, fake_dns: FakeDns) -> AddressList:
    """A list with results, four of which are unknown because shop1.com fails."""
    fake_dns.set_behavior("shop1.com", "MX", servfail)
    address_list = make_started_list(account, GOOD)
    work()
    assert wallet(account) == (BALANCE - 25, 4)
    return fresh(address_list)


def work() -> int:
    """Work until nothing is left to do now, and return the number of units."""
    units = 0
    while work_once():
        units += 1
        assert list(find_discrepancies()) == []
    return units


def fresh(address_list: AddressList) -> AddressList:
    return AddressList.objects.get(pk=address_list.pk)


def counts(address_list: AddressList) -> tuple[int, ...]:
    found = fresh(address_list)
    assert found.checked == found.deliverable + found.risky + found.undeliverable + found.unknown
    return found.deliverable, found.risky, found.undeliverable, found.unknown


def wallet(account: Account) -> tuple[int, int]:
    assert list(find_discrepancies()) == []
    found = Wallet.objects.get(account=account)
    return found.balance, found.held


def usage() -> dict[tuple[int | None, str], tuple[int, int]]:
    """Return calls and credits by key and verdict, over all hours."""
    sums = UseHour.objects.values_list("key_id", "verdict").annotate(Sum("calls"), Sum("credits"))
    return {(key_id, verdict): (calls, spent) for key_id, verdict, calls, spent in sums}


def results_of(address_list: AddressList) -> dict[str, str]:
    results = [
        result
        for chunk in address_list.chunks.order_by("first_row")
        for result in unpack_results(bytes(chunk.results))
    ]
    return {result["email"]: result["reason"] for result in results}


def recheck_in_time() -> Iterator[int]:
    """Travel to each time at which unknown results are checked again."""
    start = timezone.now()
    for minutes in (2, 13, 74):
        with time_machine.travel(start + timedelta(minutes=minutes)):
            # Its clock doesn't travel, so failed lookups would still be cached.
            get_engine.cache_clear()
            yield minutes
