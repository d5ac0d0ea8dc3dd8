"""Lists count toward the account's hourly limit of exhausted lookups, and keep to it."""

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from accounts.models import Account
from lists.models import AddressList
from lists.models.states import ListState
from lists.packing import unpack_results
from tests.engine.hostile_domains import endless_aliases
from tests.lists.factory import make_started_list
from tests.lists.runs import GOOD, counts, fresh, recheck_in_time, shops, wallet, work
from tests.servers.dns import FakeDns
from tests.support.api_client import ApiClient
from validation.lookup_limits import EXHAUSTED_PER_REQUEST, AccountLookupLimit

__all__ = ["shops"]

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

BUDGET = 60
REQUESTS = 1
LIMIT = EXHAUSTED_PER_REQUEST * REQUESTS


@pytest.fixture(autouse=True)
def _low_limit(account: Account) -> None:
    account.requests_per_minute_override = REQUESTS
    account.save()


def make_hostile_list(account: Account, fake_dns: FakeDns, name: str) -> AddressList:
    domains = [f"{name}{number}.com" for number in range(15)]
    for domain in domains:
        endless_aliases(fake_dns, domain)
    return make_started_list(account, [f"jane@{domain}" for domain in domains])


def retry_seconds(address_list: AddressList) -> set[int]:
    chunks = address_list.chunks.all()
    results = [result for chunk in chunks for result in unpack_results(bytes(chunk.results))]
    return {result["retry_after_s"] for result in results}


def test_lists_of_an_account_share_its_hourly_limit_with_calls(
    account: Account, caller: ApiClient, fake_dns: FakeDns
) -> None:
    lists = [make_hostile_list(account, fake_dns, name) for name in ("costly", "dear")]
    work()
    assert fake_dns.messages <= LIMIT * BUDGET
    for address_list in lists:
        assert counts(address_list) == (0, 0, 0, 15)
    assert {300, 600} == set.union(*map(retry_seconds, lists))
    messages = fake_dns.messages
    refused = caller.validate("jane@shop1.com").json()
    assert (refused["reason"], refused["retry_after_s"]) == ("dns_failure", 600)
    assert fake_dns.messages == messages


def test_rechecks_count_toward_the_same_limit(account: Account, fake_dns: FakeDns) -> None:
    # All in one hour.
    with time_machine.travel(timezone.now().replace(minute=1)):
        make_hostile_list(account, fake_dns, "costly")
        work()
        for minutes in recheck_in_time():
            if minutes < 59:
                work()
        assert fake_dns.messages <= LIMIT * BUDGET


def test_list_over_the_limit_goes_on_in_the_next_hour(account: Account, fake_dns: FakeDns) -> None:
    for _ in range(LIMIT):
        AccountLookupLimit(account).record_exhausted()
    address_list = make_started_list(account, GOOD)
    work()
    assert counts(address_list) == (0, 0, 0, 25)
    assert retry_seconds(address_list) == {600}
    assert fake_dns.messages == 0
    with time_machine.travel(timezone.now() + timedelta(hours=1)):
        work()
    assert counts(address_list) == (25, 0, 0, 0)
    assert fresh(address_list).state == ListState.COMPLETED
    assert wallet(account)[1] == 0
