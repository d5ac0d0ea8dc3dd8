"""The product on PostgreSQL and Redis, as several machines would share them."""

import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from redis import Redis

from tests.servers.browser import PlainBrowser
from tests.servers.postgres import postgres
from tests.servers.product import Product, product
from tests.servers.redis import redis

pytestmark = [pytest.mark.process, pytest.mark.fault]


@pytest.fixture(scope="module")
def stores() -> Iterator[tuple[str, str]]:
    with postgres() as database_url, redis() as redis_url:
        yield database_url, redis_url


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, stores: tuple[str, str]) -> Iterator[Product]:
    database_url, redis_url = stores
    folder = tmp_path_factory.mktemp("large")
    environment = {"DATABASE_URL": database_url, "REDIS_URL": redis_url, "WEB_THREADS": "4"}
    with product(folder, **environment) as running:
        yield running


def sign_in(served: Product) -> PlainBrowser:
    browser = PlainBrowser(served.url)
    password = served.owner_password()
    page = browser.send("/accounts/login/", login="owner@example.com", password=password)
    assert "<h1>Overview</h1>" in page
    return browser


def test_all_data_is_in_postgresql_and_redis(served: Product, stores: tuple[str, str]) -> None:
    sign_in(served)
    assert not list(served.folder.glob("*.sqlite3*"))
    with psycopg.connect(stores[0]) as connection:
        (users,) = connection.execute("SELECT count(*) FROM accounts_user").fetchone() or (0,)
    assert users == 1
    assert Redis.from_url(stores[1]).keys("*allauth*")


def test_more_concurrent_requests_than_connections_are_all_served(
    served: Product, stores: tuple[str, str]
) -> None:
    browsers = [sign_in(served) for _ in range(3)]
    with ThreadPoolExecutor(48) as pool:
        pages = list(pool.map(lambda n: browsers[n % 3].get("/accounts/team/"), range(300)))
    assert all("<h1>Team</h1>" in page for page in pages)
    with psycopg.connect(stores[0]) as connection:
        row = connection.execute("SELECT count(*) FROM pg_stat_activity WHERE usename <> ''")
        (connections,) = row.fetchone() or (0,)
    # Two web workers with a pool of four each, the background worker, and this test.
    assert connections <= 12


def test_half_sent_bodies_hold_no_database_connection(served: Product) -> None:
    browser = sign_in(served)
    half = (
        b"POST /accounts/login/ HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        b"Cookie: session=" + b"a" * 32 + b"\r\nContent-Length: 500\r\n\r\nhalf"
    )
    slow = [socket.create_connection(("127.0.0.1", served.port)) for _ in range(80)]
    try:
        for connection in slow:
            connection.sendall(half)
        time.sleep(0.5)
        assert all("<h1>Team</h1>" in browser.get("/accounts/team/") for _ in range(10))
    finally:
        for connection in slow:
            connection.close()
