"""Kill the process at any step: each event arrives, with the same id if it arrives twice."""

import random
import sqlite3
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager

import psycopg
import pytest

from tests.accounts.webhooks.processes import Sender, add_endpoints, end_leases, site, wait_until
from tests.servers.books import fetch_rows
from tests.servers.receiver import Handler, Receiver, receiver, respond, silence

__all__ = ["site"]

pytestmark = [pytest.mark.process, pytest.mark.fault, pytest.mark.timeout(900)]

KILLS, EVENTS = 12, 150


def restart(site: Sender) -> None:
    site.kill()
    end_leases(site)
    site.start()


def event_ids(site: Sender) -> set[str]:
    return {row[0] for row in fetch_rows(site, "SELECT public_id FROM accounts_event")}


def assert_sent_again(site: Sender, shop: Receiver) -> None:
    assert site.count("state = 'waiting' AND tries = 0") == 1
    shop.behavior = respond(200)
    restart(site)
    site.wait_until_delivered(1)
    assert len(shop.ids) == 2
    assert set(shop.ids) == event_ids(site)


def test_event_of_a_process_killed_during_its_attempt_is_sent_again(site: Sender) -> None:
    with receiver(silence) as shop:
        add_endpoints(site, shop.url)
        wait_until(lambda: len(shop.ids) == 1, site.output)
        site.kill()
        assert_sent_again(site, shop)


def test_event_of_a_process_killed_before_its_commit_is_sent_again(site: Sender) -> None:
    def respond_later(handler: Handler) -> None:
        silence(handler)
        respond(200)(handler)

    with receiver(respond_later) as shop:
        add_endpoints(site, shop.url)
        wait_until(lambda: len(shop.ids) == 1, site.output)
        with locked_deliveries(site):
            # It gets this response, and waits for the lock.
            shop.ended.set()
            wait_until(lambda: shop.in_progress == 0)
            time.sleep(0.2)
            site.kill()
        assert_sent_again(site, shop)


@contextmanager
def locked_deliveries(site: Sender) -> Iterator[None]:
    url = site.environment.get("DATABASE_URL")
    if url:
        with psycopg.connect(url) as postgres:
            postgres.execute("SELECT 1 FROM accounts_delivery FOR UPDATE")
            yield
        return
    with closing(sqlite3.connect(site.folder / "db.sqlite3", timeout=20)) as database:
        database.execute("BEGIN IMMEDIATE")
        yield
        database.rollback()


def test_killed_processes_lose_no_event(site: Sender) -> None:
    with ExitStack() as stack:
        shops = [stack.enter_context(receiver()) for _ in range(4)]
        add_endpoints(site, *(shop.url for shop in shops), events=EVENTS)
        for _ in range(KILLS):
            delivered = site.count("state = 'delivered'")
            wait_until(lambda: site.count("state = 'delivered'") > delivered, site.output)  # noqa: B023
            time.sleep(random.uniform(0, 0.2))
            restart(site)
            if site.count("state = 'delivered'") == len(shops) * EVENTS:
                add_endpoints(site, *(shop.url for shop in shops), events=EVENTS)
        # All have deliveries first, as those of the last events may not exist yet.
        wait_until(lambda: site.count() == len(event_ids(site)), site.output)
        wait_until(lambda: site.count("state <> 'delivered'") == 0, site.output)
        received = [set(shop.ids) for shop in shops]
        assert set.union(*received) == event_ids(site)
        # Each event is for one endpoint.
        assert sum(map(len, received)) == len(event_ids(site))
