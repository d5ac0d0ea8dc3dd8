"""List processes stop when asked to, and survive an outage of the database."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from lists.management.commands.run_lists import NICENESS
from tests.lists.list_processes import (
    assert_charged_once,
    checked_addresses,
    end_leases,
    start_list,
    start_process,
    state_of,
    wait_for_progress,
    wait_until_completed,
)
from tests.servers.dns import FakeDns, dns_server
from tests.servers.keys import make_account
from tests.servers.postgres import postgres_server
from tests.servers.product import Product, product
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.proof, pytest.mark.timeout(900)]

ADDRESSES = 2_000


@pytest.fixture
def resolver() -> Iterator[str]:
    names = FakeDns()
    for number in range(50):
        names.add_mail_domain(f"shop{number}.com")
    with dns_server(names) as address:
        yield address


def test_stopped_process_ends_its_chunk_and_leaves_the_rest(tmp_path: Path, resolver: str) -> None:
    with product(tmp_path, DNS_RESOLVERS=resolver) as site:
        make_account(site, "lists@shop.example", "--credits", "5000")
        list_id = start_list(site, ADDRESSES, chunk_rows=5)
        process = start_process(site)
        wait_for_progress(site, list_id)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        assert 0 < checked_addresses(site) < ADDRESSES
        assert state_of(site, list_id) == "running"
        # No lease is left, so the next process goes on without waiting.
        with_next = start_process(site)
        try:
            wait_until_completed(site, list_id)
        finally:
            with_next.kill()
            with_next.wait()
        assert_charged_once(site, ADDRESSES)


@pytest.mark.fault
def test_process_goes_on_when_the_database_is_back(tmp_path: Path, resolver: str) -> None:
    with (
        postgres_server() as server,
        product(tmp_path, DNS_RESOLVERS=resolver, DATABASE_URL=server.url) as site,
    ):
        make_account(site, "lists@shop.example", "--credits", "5000")
        list_id = start_list(site, ADDRESSES, chunk_rows=5)
        process = start_process(site)
        try:
            wait_for_progress(site, list_id)
            for _ in range(3):
                server.kill()
                server.restart()
                end_leases(site)
                wait_for_progress(site, list_id)
            wait_until_completed(site, list_id)
            assert process.poll() is None
        finally:
            process.kill()
            process.wait()
        assert_charged_once(site, ADDRESSES)


def test_make_serve_starts_as_many_list_processes_as_configured_which_let_calls_go_first(
    tmp_path: Path, resolver: str
) -> None:
    with product(tmp_path, DNS_RESOLVERS=resolver, LIST_PROCESSES="2") as site:
        wait_until(lambda: _priorities(site) == [(NICENESS, os.SCHED_BATCH)] * 2)
        make_account(site, "lists@shop.example", "--credits", "5000")
        list_id = start_list(site, 100)
        wait_until_completed(site, list_id)
        assert_charged_once(site, 100)


def _priorities(site: Product) -> list[tuple[int, int]]:
    processes = _list_processes(site)
    return [(process.nice(), os.sched_getscheduler(process.pid)) for process in processes]


def _list_processes(site: Product) -> list[psutil.Process]:
    processes = psutil.Process(site.process.pid).children(recursive=True)
    return [process for process in processes if "run_lists" in process.cmdline()]
