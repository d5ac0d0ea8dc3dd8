"""The progress of lists while they run: domains first, then addresses."""

import threading
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Account
from lists.lifecycle import pause_list, resume_list
from lists.models import AddressList, DomainBlock
from lists.models.states import ListState
from lists.processing import domain_lookups
from lists.processing.running import check_once, work_once
from tests.lists.factory import make_list, make_started_list
from tests.lists.runs import GOOD, fresh, shops, work
from tests.servers.dns import FakeDns
from tests.support.api_client import ApiClient
from tests.support.waiting import wait_until

__all__ = ["shops"]


def progress(address_list: AddressList) -> tuple[int, int]:
    found = fresh(address_list)
    return found.domains_checked, found.percent_checked


def test_percent_combines_domains_and_addresses(account: Account) -> None:
    address_list = make_started_list(account, GOOD, block_domains=4)
    seen = [progress(address_list)]
    for _ in range(5):
        assert work_once()
        seen.append(progress(address_list))
    # 95 units: ten for each of 7 domains, and one for each of 25 addresses.
    assert seen == [(0, 0), (4, 42), (7, 73), (7, 84), (7, 94), (7, 100)]
    work()
    assert not DomainBlock.objects.exists()
    assert progress(address_list) == (7, 100)


def test_list_whose_domains_were_not_counted_shows_addresses_only(account: Account) -> None:
    address_list = make_started_list(account, GOOD)
    AddressList.objects.update(domains=0)
    assert work_once()
    assert progress(address_list) == (0, 0)
    assert work_once()
    assert progress(address_list) == (0, 40)


def test_domains_are_counted_while_their_block_is_looked_up(
    shop: Account, patient_dns: FakeDns, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(domain_lookups, "LOOKUPS_AT_ONCE", 1)
    monkeypatch.setattr(domain_lookups, "PROGRESS_SECONDS", 0)
    patient_dns.delay = 0.03
    address_list = make_started_list(shop, GOOD)
    # A process that was killed left this.
    DomainBlock.objects.update(looked_up=7)

    def look_up() -> None:
        check_once()
        connection.close()

    looking_up = threading.Thread(target=look_up)
    looking_up.start()
    wait_until(lambda: 0 < progress(address_list)[0] < 7)
    wait_until(lambda: bool(fresh(address_list).progress_marks))
    looking_up.join()
    assert progress(address_list) == (7, 73)


def test_seconds_left_are_known_five_seconds_after_the_start_or_a_pause(account: Account) -> None:
    address_list = make_started_list(account, GOOD, chunk_rows=5, block_domains=4)
    start = timezone.now()

    def work_at(second: int) -> int | None:
        with time_machine.travel(start + timedelta(seconds=second), tick=False):
            assert work_once()
            return fresh(address_list).seconds_left

    # 40 units of 95 are done after the first block.
    assert work_at(0) is None
    assert work_at(3) is None
    # 75 are done, 35 of them since the first mark.
    assert work_at(7) == 4
    pause_list(address_list=address_list, actor=None)
    assert fresh(address_list).seconds_left is None
    resume_list(address_list=address_list, actor=None)
    assert [work_at(second) for second in (20, 24)] == [None, None]
    assert work_at(26) == 3


def test_page_of_lists_reads_all_progress_in_one_query(account: Account, caller: ApiClient) -> None:
    lists = [make_started_list(account, GOOD[:7], name=str(number)) for number in range(3)]
    AddressList.objects.update(state=ListState.RUNNING)
    DomainBlock.objects.filter(list=lists[1]).update(looked_up=3)

    def get() -> tuple[Any, int]:
        with CaptureQueriesContext(connection) as queries:
            data = caller.get("/v1/lists").json()["data"]
        return data, len(queries)

    get()
    data, count = get()
    shown = [(one["progress"]["domains_checked"], one["progress"]["percent"]) for one in data]
    assert shown == [(0, 0), (3, 38), (0, 0)]
    make_list(account, GOOD[:7])
    assert get()[1] == count
