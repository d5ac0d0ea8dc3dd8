"""PostgreSQL goes away and comes back: 503 in between, in the one shape, and nobody waits long."""

import time
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.servers.client import HttpCaller
from tests.servers.keys import make_key
from tests.servers.postgres import postgres
from tests.servers.product import product
from tests.servers.relay import relay

pytestmark = pytest.mark.process

LONGEST_SECONDS = 2


def test_without_its_database_the_api_answers_503_and_recovers_by_itself(tmp_path: Path) -> None:
    with postgres() as url:
        (folder,) = parse_qs(urlsplit(url).query)["host"]
        with relay(f"{folder}/.s.PGSQL.5432") as between:
            database = f"postgres://postgres@127.0.0.1:{between.port}/postgres"
            with product(tmp_path, DATABASE_URL=database) as site:
                caller = HttpCaller(site, make_key(site, "away@shop.example", 1000))
                assert caller.get().status == 200
                between.cut()
                away = [caller.get() for _ in range(6)]
                stranger = HttpCaller(site, "svc_live_mistyped").get()
                between.mend()
                deadline = time.monotonic() + 15
                while caller.get().status != 200 and time.monotonic() < deadline:
                    time.sleep(0.2)
                back = caller.get()
                caller.close()
    assert {answer.status for answer in away} == {503}
    for answer in away:
        error = answer.document["error"]
        assert error["code"] == "service_unavailable"
        assert error["details"]["retry_after"] >= 1
        assert "Retry-After" not in answer.headers
        assert answer.headers["RateLimit"].startswith('"address";r=60')
        assert answer.seconds < LONGEST_SECONDS
    # A mistyped key is recognised without the database.
    assert stranger.status == 401
    assert back.status == 200
