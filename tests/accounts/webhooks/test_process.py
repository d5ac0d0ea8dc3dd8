"""The process sends what is due, and no receiver delays another."""

from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import psutil
import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from tests.accounts.webhooks.processes import (
    Attempt,
    Sender,
    add_endpoints,
    end_leases,
    most_at_once,
    sender,
    site,
    wait_until,
)
from tests.servers.product import Product, migrated_postgres, product
from tests.servers.receiver import Handler, drip, receiver, respond, silence

__all__ = ["site"]

pytestmark = [pytest.mark.process, pytest.mark.proof, pytest.mark.timeout(400)]

UNAVAILABLE = "Database unavailable, trying again"


def test_slow_and_silent_receivers_end_in_time_and_delay_no_others(site: Sender) -> None:
    with ExitStack() as stack:
        silent = [stack.enter_context(receiver(silence)) for _ in range(4)]
        endless = {
            stack.enter_context(receiver(drip(head))).url: status
            for head, status in (
                (b"HTTP/1.1 200 OK\r\nA: ", None),
                (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 ", None),
                (b"HTTP/1.1 200 OK\r\n\r\n", 200),
                (b"HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n", 200),
            )
        }
        shops = [stack.enter_context(receiver()) for _ in range(4)]
        add_endpoints(site, *(each.url for each in silent), *endless, events=20)
        add_endpoints(site, *(shop.url for shop in shops), events=50, account="Another shop")
        site.wait_until_delivered(200)
        # The others waited for none of them: they have had one attempt, or a second after 15 s.
        assert all(len(each.ids) < 20 for each in silent)
        for shop in shops:
            assert len(set(shop.ids)) == len(shop.ids) == 50
        wait_until(lambda: all(len(site.attempts(each.url)) >= 2 for each in silent), site.output)
        wait_until(lambda: all(site.attempts(url) for url in endless), site.output)
        for attempt in failures(site):
            assert (attempt.error, attempt.status) == ("timeout", endless.get(attempt.url))
            assert attempt.end - attempt.start >= timedelta(seconds=14.9)
        # One after the other, because none has succeeded.
        assert all(most_at_once(site.attempts(each.url)) == 1 for each in silent)


def test_attempts_in_progress_are_limited_by_endpoint_account_and_state(site: Sender) -> None:
    seen: set[str] = set()

    def respond_once(handler: Handler) -> None:
        is_first = handler.path not in seen
        seen.add(handler.path)
        (respond(200) if is_first else silence)(handler)

    with receiver(silence) as silent, receiver(respond_once) as busy:
        urls = {
            name: [f"{each.url}/{name}/{number}" for number in range(10)]
            for name, each in (("failing", silent), ("fresh", silent), ("busy", busy))
        }
        site.kill()
        for number in range(2):
            add_endpoints(site, *urls["failing"], account=f"Failing {number}", is_failing=True)
        for number in range(6):
            add_endpoints(site, *urls["fresh"], account=f"Fresh {number}")
        add_endpoints(site, *urls["busy"], events=20, account="Busy shop")
        site.start()
        wait_until(lambda: len(failures(site, f"{busy.url}/busy")) >= 12, site.output)
        wait_until(lambda: len(failures(site, f"{silent.url}/fresh")) >= 48, site.output)
        wait_until(lambda: len(failures(site, f"{silent.url}/failing")) >= 16, site.output)
        assert most_at_once(site.attempts()) <= 64
        # On a busy machine, some turns end before their first outcome, so these keep one slot.
        # Others have had none, as three of them fill the account's slots.
        tried = [found for url in urls["busy"] if (found := site.attempts(url))]
        assert max(map(most_at_once, tried)) == 4
        assert most_at_once(site.attempts(f"{busy.url}/busy")) <= 12
        assert most_at_once(site.attempts(f"{silent.url}/fresh")) <= 48
        assert most_at_once(site.attempts(f"{silent.url}/failing")) <= 16


def failures(site: Sender, url: str = "") -> list[Attempt]:
    return [attempt for attempt in site.attempts(url) if attempt.error]


def test_terminated_process_finishes_its_attempts(site: Sender) -> None:
    with receiver(silence) as shop, receiver(respond(500)) as failing:
        add_endpoints(site, shop.url, failing.url)
        wait_until(lambda: bool(shop.ids and failing.ids), site.output)
        site.process.terminate()
        shop.ended.set()
        site.process.wait(timeout=100)
        assert site.process.returncode == 0
        assert sorted(attempt.error for attempt in site.attempts()) == ["incomplete", "status"]
        assert site.count("state = 'waiting' AND tries = 1") == 2
        assert "Traceback" not in site.output()


def test_process_continues_after_the_database_was_unavailable(tmp_path: Path) -> None:
    with (
        migrated_postgres() as url,
        sender(tmp_path, DATABASE_URL=url) as site,
        receiver() as shop,
        psycopg.connect(url, dbname="template1", autocommit=True) as postgres,
    ):
        database = conninfo_to_dict(url)["dbname"]
        add_endpoints(site, shop.url, events=300)
        for number in range(3):
            wait_until(lambda: len(shop.ids) > 50 * number, site.output)  # noqa: B023
            postgres.execute(f"ALTER DATABASE {database} ALLOW_CONNECTIONS false")
            postgres.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s",
                [database],
            )
            wait_until(lambda: site.output().count(UNAVAILABLE) > number, site.output)  # noqa: B023
            postgres.execute(f"ALTER DATABASE {database} ALLOW_CONNECTIONS true")
        site.wait_until_delivered(300)
        assert len(set(shop.ids)) == 300
        assert "Traceback" not in site.output()


def test_supervisor_replaces_a_killed_process(tmp_path: Path) -> None:
    with (
        product(tmp_path, WEBHOOK_PROCESSES="1", WEBHOOK_ALLOW_PRIVATE="on") as site,
        receiver() as shop,
    ):
        for number in (1, 2):
            wait_until(lambda: bool(find_processes(site)), site.output)
            add_endpoints(site, shop.url)
            wait_until(lambda: len(set(shop.ids)) == number, site.output)  # noqa: B023
            (process,) = find_processes(site)
            process.kill()
            process.wait()
            end_leases(site)
        assert len(set(shop.ids)) == 2


def find_processes(site: Product) -> list[psutil.Process]:
    children = psutil.Process(site.process.pid).children()
    return [child for child in children if "run_webhooks" in child.cmdline()]
