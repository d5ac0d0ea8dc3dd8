"""Each part of a service on three machines dies in turn: docs/operations/three-machines.md.

The commands that set up and promote PostgreSQL's standby are the handbook's. What is printed is
what its table says.
"""

import time
from collections.abc import Iterator

import pytest

from tests.lists.list_processes import change, checked_addresses, start_list, state_of
from tests.servers.books import fetch_number
from tests.servers.client import HttpCaller, wait_until_ready
from tests.servers.keys import make_account, make_key, manage
from tests.servers.product import Product
from tests.servers.three_machines import ThreeMachines, three_machines
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.fault, pytest.mark.timeout(300)]

LIMIT, ADDRESSES = 40, 2000

QUEUE_EMAIL = """
from runtime.mail.outbox import queue_mail
queue_mail(to="second@shop.example", subject="Sent", text="Sent", html="Sent")
"""

REVOKE = """
from apikeys.models import ApiKey
from apikeys.services import revoke_key
revoke_key(key=ApiKey.objects.latest("pk"), actor=None)
"""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ThreeMachines]:
    with three_machines(tmp_path_factory.mktemp("service")) as running:
        yield running


def ready_states(app: Product) -> dict[str, str]:
    states: dict[str, str] = HttpCaller(app, None).get("/readyz").document
    return states


def test_app_machine_dies_and_the_other_answers(service: ThreeMachines) -> None:
    first, second = service.apps
    with service.traffic("app@shop.example") as calls:
        service.kill_app(first)
        calls.wait_for_more(200)
        # Emails, too, are sent by the other machine.
        manage(second, "shell", "-c", QUEUE_EMAIL)
        second.wait_for_email("second@shop.example")
        service.restart_app(first)
        calls.wait_for_more(200)
    assert set(calls.failures) <= {0, 502, 503, 504}
    print(f"app machine: {len(calls.failures)} unanswered, gap {calls.longest_gap:.1f} s")


def test_daily_jobs_continue_when_the_lease_of_a_dead_worker_ends(service: ThreeMachines) -> None:
    first, second = service.apps
    done = "SELECT count(*) FROM runtime_lease WHERE name = 'daily' AND until IS NULL"
    wait_until(lambda: count(service, done) == 1)
    service.kill_app(first)
    change(
        second,
        "UPDATE runtime_lease SET done_for = NULL, holder = 'app1:dead', "
        "until = now() + interval '5 seconds' WHERE name = 'daily'",
    )
    assert count(service, done) == 0
    wait_until(lambda: count(service, done) == 1)
    service.restart_app(first)


def count(service: ThreeMachines, query: str) -> int:
    return fetch_number(service.apps[1], query)


def test_list_of_a_dead_machine_is_finished_by_the_other(service: ThreeMachines) -> None:
    first, second = service.apps
    make_account(second, "lists@shop.example", "--credits", "5000")
    list_id = start_list(second, ADDRESSES, chunk_rows=20)
    wait_until(lambda: checked_addresses(second) > 100)
    service.kill_app(first)
    wait_until(lambda: state_of(second, list_id) == "completed", 100)
    service.restart_app(first)
    assert checked_addresses(second) == ADDRESSES
    charged = "SELECT SUM(charged) FROM credits_hold"
    assert count(service, charged) == ADDRESSES
    assert "agree" in manage(second, "check_books")


def test_calls_continue_without_redis(service: ThreeMachines) -> None:
    with service.traffic("redis@shop.example") as calls:
        service.kill_redis()
        calls.wait_for_more(200)
        wait_until(lambda: ready_states(service.apps[0])["counters"] == "degraded")
        assert ready_states(service.apps[0])["status"] == "degraded"
        service.restart_redis()
        for app in service.apps:
            wait_until(lambda app=app: ready_states(app)["counters"] == "ok")  # type: ignore[misc]
        calls.wait_for_more(200)
    assert calls.failures == []
    assert calls.results <= calls.charged
    print(f"Redis: {len(calls.failures)} unanswered, gap {calls.longest_gap:.1f} s")


@pytest.mark.parametrize("failure", ["kill", "freeze"])
def test_standby_is_promoted_and_nothing_acknowledged_is_lost(
    service: ThreeMachines, failure: str
) -> None:
    """A frozen server, like a machine without network, doesn't refuse connections."""
    with service.traffic(f"{failure}@shop.example") as calls:
        getattr(service.primary, failure)()
        wait_until(lambda: ready_states(service.apps[0])["database"] == "unavailable")
        service.fail_over()
        calls.wait_for_more(200)
        service.standby.stop()
        service.replicate()
        calls.wait_for_more(200)
    assert set(calls.failures) == {503}
    assert calls.results <= calls.charged
    print(f"primary, {failure}: {len(calls.failures)} unanswered, gap {calls.longest_gap:.1f} s")
    for app in service.apps:
        wait_until_ready(HttpCaller(app, None))


def test_standby_dies_and_calls_are_refused_until_commits_stop_waiting_for_it(
    service: ThreeMachines,
) -> None:
    with service.traffic("standby@shop.example") as calls:
        service.standby.kill()
        wait_until(lambda: 503 in calls.failures)
        service.primary.run("replication-asynchronous")
        calls.wait_for_more(200)
        service.standby.start()
        service.wait_for_commits()
        calls.wait_for_more(200)
    assert set(calls.failures) == {503}
    assert calls.results <= calls.charged
    print(f"standby: {len(calls.failures)} unanswered, gap {calls.longest_gap:.1f} s")


def test_asynchronous_standby_loses_what_it_had_not_received(service: ThreeMachines) -> None:
    with service.lossy_traffic("asynchronous@shop.example") as calls:
        acknowledged_by_both = calls.results
        service.primary.run("replication-asynchronous")
        service.standby.kill()
        calls.wait_for_more(100)
        service.primary.kill()
        service.standby.start()
        service.fail_over()
        calls.wait_for_more(100)
        service.replicate()
    lost = calls.results - calls.charged
    assert len(lost) >= 90
    assert acknowledged_by_both <= calls.charged


def test_key_revoked_on_one_machine_is_refused_by_the_other(service: ThreeMachines) -> None:
    first, second = service.apps
    secret = make_key(first, "revoked@shop.example", 1000)
    on_first, on_second = HttpCaller(first, secret), HttpCaller(second, secret)
    assert [on_first.get().status, on_second.get().status] == [200, 200]
    manage(first, "shell", "-c", REVOKE)
    refused = [on_second.get(), on_first.get()]
    assert [response.status for response in refused] == [401, 401]
    assert {response.document["error"]["code"] for response in refused} == {"api_key_revoked"}


def test_rate_limit_is_exact_over_both_machines(service: ThreeMachines) -> None:
    secret = make_key(service.apps[0], "limited@shop.example", LIMIT)
    callers = [HttpCaller(app, secret) for app in service.apps]
    # Begin a window that won't end during the calls.
    while int((first := callers[0].get()).headers["X-RateLimit-Reset"]) - time.time() < 20:
        time.sleep(1)
    used = LIMIT - int(first.headers["X-RateLimit-Remaining"])
    statuses = [callers[number % 2].get().status for number in range(LIMIT + 10)]
    assert statuses == [200] * (LIMIT - used) + [429] * (10 + used)
