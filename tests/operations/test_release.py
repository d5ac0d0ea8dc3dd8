"""deploy/release upgrades and rolls back under load, and no call is refused.

A parent process takes the place of systemd (tests/servers/service_manager.py). gunicorn, the
sockets, git and the script are real.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.servers.books import fetch_number
from tests.servers.client import HttpCaller, steady_calls
from tests.servers.keys import make_key
from tests.servers.product import migrated_postgres
from tests.servers.released import UPGRADE, ReleasedProduct
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.proof, pytest.mark.timeout(600)]

# Seconds between the requests of a connection. Longer ones make each stop take longer.
PAUSES = (0.0, 0.02, 0.02, 0.3, 0.9, 2.5)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReleasedProduct]:
    with migrated_postgres() as url:
        running = ReleasedProduct(tmp_path_factory.mktemp("released"), DATABASE_URL=url)
        yield running
        running.stop()


@contextmanager
def calls_that_all_succeed(site: ReleasedProduct) -> Iterator[None]:
    """Send charged calls, none of which may fail, or wait for processes to start."""
    secret = make_key(site, f"{time.monotonic_ns()}@shop.example", 1_000_000, 1_000_000)
    charged = fetch_number(site, "SELECT COALESCE(SUM(credits), 0) FROM credits_usehour")
    with steady_calls(site, secret, PAUSES) as responses:
        time.sleep(1)
        yield
        time.sleep(1)
    assert {response.status for response in responses} == {200}
    total = fetch_number(site, "SELECT SUM(credits) FROM credits_usehour")
    assert total - charged == len(responses) > 100
    assert max(response.seconds for response in responses) < 3


def serving(site: ReleasedProduct) -> str:
    """Return the commit that /readyz names, which each of several workers has to agree on."""
    commits = set()
    for _ in range(20):
        caller = HttpCaller(site, None)
        commits.add(caller.get("/readyz").document["commit"])
        caller.close()
    (commit,) = commits
    return str(commit)


def test_upgrade_and_rollback_refuse_no_call(site: ReleasedProduct) -> None:
    old, new = serving(site), site.commit()
    with calls_that_all_succeed(site):
        assert site.release("main").wait() == 0, site.output()
        assert serving(site) == new
        assert site.release("--back").wait() == 0, site.output()
        assert serving(site) == old
    # The packages are the same.
    assert len(list(site.program.glob("environments/*"))) == 1


def test_rollback_during_boot_refuses_no_call(site: ReleasedProduct) -> None:
    old, new = serving(site), site.commit()
    upgrade = site.manager.service(UPGRADE)
    with calls_that_all_succeed(site):
        release = site.release(new)
        wait_until(lambda: upgrade.is_running)
        assert site.interrupt(release) == 1
        assert serving(site) == old
        assert site.release("--back").wait() == 0, site.output()
        assert serving(site) == old
    assert not upgrade.is_running


def test_release_that_does_not_start_changes_nothing(site: ReleasedProduct) -> None:
    old, broken = serving(site), site.commit_broken_code()
    with calls_that_all_succeed(site):
        assert site.release(broken).wait() == 1
        assert serving(site) == old
        assert site.release("--back").wait() == 0, site.output()
        assert serving(site) == old
    assert f"{broken} doesn't start, so {old} continues to serve" in site.output()


def test_three_upgrades_within_a_minute_refuse_no_call(site: ReleasedProduct) -> None:
    commits = [site.commit() for _ in range(3)]
    with calls_that_all_succeed(site):
        releases = []
        for commit in commits:
            releases.append(site.release(commit))
            # Each waits for the one before.
            time.sleep(5)
        assert [release.wait() for release in releases] == [0, 0, 0], site.output()
        assert serving(site) == commits[-1]


def test_commit_that_does_not_exist_is_named(site: ReleasedProduct) -> None:
    assert site.release("v9.9.9").wait() == 1
    assert "release: there is no commit v9.9.9\n" in site.output()
