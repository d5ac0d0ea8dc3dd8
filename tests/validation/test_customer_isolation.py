"""Concurrent customers share coalesced transactions, and each gets only their own responses.

They use the same Idempotency-Keys, some clients disconnect early, and a web worker is killed.
"""

import json
import random
import signal
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from typing import NamedTuple

import psutil
import pytest

from tests.servers.client import HttpCaller
from tests.servers.keys import make_key, manage
from tests.servers.postgres import postgres
from tests.servers.product import Product, product
from tests.servers.raw_http import send_and_disconnect
from tests.servers.redis import redis

pytestmark = [pytest.mark.process, pytest.mark.fault]

CALLS = 900
THREADS = 24


class Customer(NamedTuple):
    name: str
    key: str
    account: str
    caller: HttpCaller


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    with postgres() as database_url, redis() as redis_url:
        stores = {"DATABASE_URL": database_url, "REDIS_URL": redis_url}
        with product(tmp_path_factory.mktemp("customers"), **stores) as running:
            yield running


def customer(site: Product, name: str) -> Customer:
    key = make_key(site, f"{name}@shop.example", 1_000_000, credits=100_000)
    caller = HttpCaller(site, key)
    return Customer(name, key, caller.get().document["account"]["id"], caller)


def test_no_response_reaches_another_customer(site: Product) -> None:
    customers = [customer(site, name) for name in ("anna", "bert", "carl")]
    seen: Counter[str] = Counter()

    def call(number: int) -> None:
        sender = random.choice(customers)
        if number == CALLS // 2:
            kill_a_web_worker(site)
        elif number % 10 == 0:
            disconnect_early(site, sender, number)
        else:
            seen[whose_response(sender, number)] += 1

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(call, range(CALLS)))
    assert seen["another's"] == 0
    assert seen["own"] > CALLS / 2
    manage(site, "check_books")


def whose_response(sender: Customer, number: int) -> str:
    try:
        if number % 3 == 0:
            response = sender.caller.get()
            status, actual = response.status, response.document.get("account", {}).get("id")
            expected = sender.account
        else:
            expected = f"{sender.name}-{number % 7}@reserved.test"
            # All customers use the same keys.
            headers = {"Idempotency_Key": f"once-{number % 7}"} if number % 3 == 1 else {}
            response = sender.caller.validate(expected, **headers)
            status, actual = response.status, response.document.get("email")
    except (OSError, HTTPException, json.JSONDecodeError):
        return "none: its worker was killed"
    if status == 422:
        return "another's"
    if status != 200:
        return f"refused: {status}"
    return "own" if actual == expected else "another's"


def disconnect_early(site: Product, sender: Customer, number: int) -> None:
    body = json.dumps({"email": f"{sender.name}-{number}@reserved.test"}).encode()
    head = (
        f"POST /v1/validate HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {sender.key}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    send_and_disconnect(site, head.encode() + body)


def kill_a_web_worker(site: Product) -> None:
    (web,) = [child for child in psutil.Process(site.process.pid).children() if child.children()]
    web.children()[0].send_signal(signal.SIGKILL)
