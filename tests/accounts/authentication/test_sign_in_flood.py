"""Strangers who try passwords block neither customers from the API nor users from the dashboard."""

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from urllib.parse import urlencode

import pytest

from tests.bench.load import Address, Load, Outcome, generate
from tests.servers.browser import PlainBrowser
from tests.servers.client import ClientResponse, HttpCaller
from tests.servers.keys import make_account
from tests.servers.pools import Pools, pools
from tests.servers.product import migrated_postgres

pytestmark = [pytest.mark.process, pytest.mark.fault]

LOGIN, EMAIL = "/accounts/login/", "jane@shop.example"
STRANGERS, SECONDS = 100, 12.0
# Any token works if cookie and form contain the same one, because strangers have no session.
CSRF_TOKEN = "c" * 32


def wrong_sign_in(number: int) -> bytes:
    fields = {"login": f"jane.{number}@shop.example", "password": "a wrong password"}
    body = urlencode({**fields, "csrfmiddlewaretoken": CSRF_TOKEN})
    return (
        f"POST {LOGIN} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Forwarded-For: 10.0.{number}.7\r\n"
        f"Cookie: csrf={CSRF_TOKEN}\r\nContent-Length: {len(body)}\r\n"
        f"Content-Type: application/x-www-form-urlencoded\r\n\r\n{body}"
    ).encode()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pools]:
    folder = tmp_path_factory.mktemp("flood")
    environment = {"WEB_WORKERS": "2", "WEB_THREADS": "3", "TRUSTED_PROXIES": "1"}
    with migrated_postgres() as url, pools(folder, DATABASE_URL=url, **environment) as running:
        yield running


@pytest.fixture(scope="module")
def customer(site: Pools) -> tuple[str, str]:
    """Return the customer's password and API key."""
    return make_account(site, EMAIL, "--requests-per-minute", "100000", "--credits", "100000")


@contextmanager
def strangers(site: Pools, number: int = STRANGERS) -> Iterator["Future[Outcome]"]:
    """Let strangers, each with their own IP address, repeat a wrong sign-in."""
    address = Address("127.0.0.1", site.port_of("pages"))
    requests = tuple(map(wrong_sign_in, range(number)))
    attempts = Load(address, requests, number, SECONDS, 10, statuses=None)
    with ThreadPoolExecutor(1) as executor:
        flood = executor.submit(generate, attempts)
        time.sleep(1)
        yield flood


def test_no_call_with_a_valid_key_is_refused_while_strangers_sign_in(
    site: Pools, customer: tuple[str, str]
) -> None:
    server = HttpCaller(site, customer[1])
    with strangers(site) as flood:
        calls: list[ClientResponse] = []
        while len(calls) < 60 and not flood.done():
            calls.append(server.validate(f"jane.{len(calls)}@shop.example"))
    assert {call.status for call in calls} == {200}
    assert set(flood.result().by_status) <= {200, 503}
    assert flood.result().by_status[503]


def test_known_browser_signs_in_while_strangers_try_passwords(
    site: Pools, customer: tuple[str, str]
) -> None:
    browser = PlainBrowser(f"http://127.0.0.1:{site.port_of('pages')}")
    fields = {"login": EMAIL, "password": customer[0]}
    assert "Overview" in browser.send(LOGIN, **fields)
    browser.send("/accounts/logout/")
    with strangers(site) as flood:
        assert "Overview" in browser.send(LOGIN, **fields)
        assert not flood.done()
