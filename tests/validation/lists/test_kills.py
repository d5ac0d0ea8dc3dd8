"""Kill list processes again and again: every address is charged once, and the books agree."""

import random
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.servers.books import fetch_number
from tests.servers.dns import FakeDns, dns_server
from tests.servers.keys import make_account
from tests.servers.postgres import postgres_server
from tests.servers.product import Product, product
from tests.validation.lists.list_processes import (
    assert_charged_once,
    checked_addresses,
    end_leases,
    start_list,
    start_process,
    state_of,
    wait_until,
)

pytestmark = [pytest.mark.process, pytest.mark.fault]

PROCESSES, KILLS, ADDRESSES = 3, 12, 3_000


@pytest.fixture(params=["sqlite", "postgresql"])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Product]:
    names = FakeDns(delay=0.005)
    for number in range(50):
        names.add_mail_domain(f"shop{number}.com")
    with ExitStack() as stack:
        options = {"DNS_RESOLVERS": stack.enter_context(dns_server(names))}
        if request.param == "postgresql":
            options["DATABASE_URL"] = stack.enter_context(postgres_server()).url
        running = stack.enter_context(product(tmp_path, **options))
        make_account(running, "lists@shop.example", "--credits", "5000")
        yield running


def test_killed_processes_charge_each_address_once(site: Product) -> None:
    list_id = start_list(site, ADDRESSES, chunk_rows=5)
    processes = [start_process(site) for _ in range(PROCESSES)]
    try:
        for number in range(KILLS):
            # Most of a process's life is its start, so wait until one has stored results.
            before = checked_addresses(site)
            wait_until(lambda before=before: checked_addresses(site) > before)  # type: ignore[misc]
            time.sleep(random.uniform(0, 0.2))
            victim = number % PROCESSES
            processes[victim].kill()
            processes[victim].wait()
            end_leases(site)
            processes[victim] = start_process(site)
        assert state_of(site, list_id) == "running"
        wait_until(lambda: state_of(site, list_id) == "completed")
    finally:
        for process in processes:
            process.kill()
            process.wait()
    assert_charged_once(site, ADDRESSES)


def test_unit_of_a_killed_process_is_free_after_its_short_lease(site: Product) -> None:
    list_id = start_list(site, ADDRESSES, chunk_rows=50)
    while not count_leases(site):
        process = start_process(site)
        before = checked_addresses(site)
        wait_until(lambda before=before: checked_addresses(site) > before)  # type: ignore[misc]
        process.kill()
        process.wait()
    process = start_process(site)
    try:
        wait_until(lambda: state_of(site, list_id) == "completed")
    finally:
        process.kill()
        process.wait()
    assert_charged_once(site, ADDRESSES)


def count_leases(site: Product) -> int:
    return fetch_number(
        site, "SELECT COUNT(*) FROM validation_listchunk WHERE leased_until IS NOT NULL"
    )
