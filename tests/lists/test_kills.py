"""Kill list processes again and again: every address is charged once, and the books agree."""

import random
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.lists.list_processes import (
    assert_charged_once,
    end_leases,
    start_list,
    start_process,
    state_of,
    wait_for_progress,
    wait_until_completed,
)
from tests.servers.books import fetch_number
from tests.servers.dns import FakeDns, dns_server
from tests.servers.keys import make_account
from tests.servers.product import Product, migrated_postgres, product

pytestmark = [pytest.mark.process, pytest.mark.fault, pytest.mark.timeout(900)]

PROCESSES, KILLS, ADDRESSES = 3, 12, 3_000


@pytest.fixture(params=["sqlite", "postgresql"])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Product]:
    names = FakeDns(delay=0.005)
    for number in range(50):
        names.add_mail_domain(f"shop{number}.com")
    with ExitStack() as stack:
        options = {"DNS_RESOLVERS": stack.enter_context(dns_server(names))}
        if request.param == "postgresql":
            options["DATABASE_URL"] = stack.enter_context(migrated_postgres())
        running = stack.enter_context(product(tmp_path, **options))
        make_account(running, "lists@shop.example", "--credits", "5000")
        yield running


def test_killed_processes_charge_each_address_once(site: Product) -> None:
    list_id = start_list(site, ADDRESSES, chunk_rows=5)
    processes = [start_process(site) for _ in range(PROCESSES)]
    try:
        for number in range(KILLS):
            # Most of a process's life is its start, so wait until one has stored results.
            wait_for_progress(site, list_id)
            time.sleep(random.uniform(0, 0.2))
            victim = number % PROCESSES
            processes[victim].kill()
            processes[victim].wait()
            end_leases(site)
            processes[victim] = start_process(site)
        assert state_of(site, list_id) == "running"
        wait_until_completed(site, list_id)
    finally:
        for process in processes:
            process.kill()
            process.wait()
    assert_charged_once(site, ADDRESSES)


def test_unit_of_a_killed_process_is_free_after_its_short_lease(site: Product) -> None:
    list_id = start_list(site, ADDRESSES, chunk_rows=50)
    while not count_leases(site):
        process = start_process(site)
        wait_for_progress(site, list_id)
        process.kill()
        process.wait()
    process = start_process(site)
    try:
        wait_until_completed(site, list_id)
    finally:
        process.kill()
        process.wait()
    assert_charged_once(site, ADDRESSES)


def count_leases(site: Product) -> int:
    return fetch_number(site, "SELECT COUNT(*) FROM lists_listchunk WHERE leased_until IS NOT NULL")
