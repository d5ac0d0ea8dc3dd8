"""The process sends what is due, and no receiver delays another."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psutil
import psycopg
import pytest

from tests.accounts.webhooks.processes import (
    Sender,
    add_endpoints,
    end_leases,
    sender,
    wait_until,
)
from tests.servers.product import Product, migrated_postgres, product
from tests.servers.receiver import Handler, drip, receiver, respond, silence

pytestmark = [pytest.mark.process, pytest.mark.proof, pytest.mark.timeout(400)]


@pytest.fixture(params=["sqlite", "postgresql"])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Sender]:
    with ExitStack() as stack:
        options = {}
        if request.param == "postgresql":
            options["DATABASE_URL"] = stack.enter_context(migrated_postgres())
        yield stack.enter_context(sender(tmp_path, **options))


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
        # One slot each while they haven't responded: the others weren't delayed.
        assert all(each.most_in_progress == 1 for each in silent)
        assert all(shop.most_in_progress <= 4 for shop in shops)
        for shop in shops:
            assert len(set(shop.ids)) == len(shop.ids) == 50
        wait_until(lambda: len(failures(site)) >= 8, site.output)
        for url, error, status, duration in failures(site):
            assert (error, status) == ("timeout", endless.get(url))
            assert duration >= 15_000
        wait_until(lambda: all(len(each.ids) > 1 for each in silent), site.output)
        assert all(each.most_in_progress == 1 for each in silent)


def test_attempts_in_progress_are_limited_by_endpoint_account_and_state(site: Sender) -> None:
    seen: set[str] = set()

    def respond_once(handler: Handler) -> None:
        is_first = handler.path not in seen
        seen.add(handler.path)
        (respond(200) if is_first else silence)(handler)

    with ExitStack() as stack:
        failing, fresh = (stack.enter_context(receiver(silence)) for _ in range(2))
        one, busy = (stack.enter_context(receiver(respond_once)) for _ in range(2))
        for number in range(2):
            urls = [f"{failing.url}/{each}" for each in range(10)]
            add_endpoints(site, *urls, account=f"Failing shop {number}", is_failing=True)
        add_endpoints(site, one.url, events=20, account="One endpoint")
        urls = [f"{busy.url}/{number}" for number in range(10)]
        add_endpoints(site, *urls, events=20, account="Busy shop")
        receivers = (failing, one, busy)
        limits = [16, 4, 12]
        wait_until(lambda: [each.most_in_progress for each in receivers] == limits, site.output)
        for number in range(6):
            urls = [f"{fresh.url}/{each}" for each in range(10)]
            add_endpoints(site, *urls, account=f"Fresh shop {number}")
        wait_until(lambda: len(set(fresh.ids)) == 60, site.output)
        assert [each.most_in_progress for each in receivers] == limits
        assert fresh.most_in_progress <= 48


def failures(site: Sender) -> list[tuple[str, str, int | None, int]]:
    return [attempt for attempt in site.attempts() if attempt[1]]


def test_terminated_process_finishes_its_attempts(site: Sender) -> None:
    with receiver(silence) as shop, receiver(respond(500)) as failing:
        add_endpoints(site, shop.url, failing.url)
        wait_until(lambda: bool(shop.ids and failing.ids), site.output)
        site.process.terminate()
        shop.ended.set()
        site.process.wait(timeout=100)
        assert site.process.returncode == 0
        assert sorted(attempt[1] for attempt in site.attempts()) == ["incomplete", "status"]
        assert site.count("state = 'waiting' AND tries = 1") == 2
        assert "Traceback" not in site.output()


def test_process_continues_after_the_database_was_unavailable(tmp_path: Path) -> None:
    with (
        migrated_postgres() as url,
        sender(tmp_path, DATABASE_URL=url) as site,
        receiver() as shop,
        psycopg.connect(url, autocommit=True) as postgres,
    ):
        add_endpoints(site, shop.url, events=300)
        for number in range(3):
            wait_until(lambda: len(shop.ids) > 50 * number, site.output)  # noqa: B023
            postgres.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE pid <> pg_backend_pid() AND datname = current_database()"
            )
        site.wait_until_delivered(300)
        assert len(set(shop.ids)) == 300
        assert "Database unavailable, trying again" in site.output()
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


def find_processes(site: Product) -> list[psutil.Process]:
    children = psutil.Process(site.process.pid).children()
    return [child for child in children if "run_webhooks" in child.cmdline()]
