"""Several customers at once, through all that is done together for many: each sees their own.

They use the same keys of idempotency, callers leave in the middle, and a web worker is killed.
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
from tests.servers.raw import send_and_leave
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


def test_no_answer_of_one_customer_is_seen_by_another(site: Product) -> None:
    customers = [customer(site, name) for name in ("anna", "bert", "carl")]
    seen: Counter[str] = Counter()

    def call(number: int) -> None:
        who = random.choice(customers)
        if number == CALLS // 2:
            kill_a_web_worker(site)
        elif number % 10 == 0:
            leave_in_the_middle(site, who, number)
        else:
            seen[whose_answer(who, number)] += 1

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(call, range(CALLS)))
    assert seen["another's"] == 0
    assert seen["own"] > CALLS / 2
    manage(site, "check_books")


def whose_answer(who: Customer, number: int) -> str:
    try:
        if number % 3 == 0:
            answer = who.caller.get()
            found = answer.status, answer.document.get("account", {}).get("id")
            expected = who.account
        else:
            expected = f"{who.name}-{number % 7}@reserved.test"
            # Every customer's keys are called alike.
            once = {"Idempotency_Key": f"once-{number % 7}"} if number % 3 == 1 else {}
            answer = who.caller.validate(expected, **once)
            found = answer.status, answer.document.get("email")
    except (OSError, HTTPException, json.JSONDecodeError):
        return "none: its worker was killed"
    if found[0] == 422:
        return "another's"
    if found[0] != 200:
        return f"refused: {found[0]}"
    return "own" if found[1] == expected else "another's"


def leave_in_the_middle(site: Product, who: Customer, number: int) -> None:
    body = json.dumps({"email": f"{who.name}-{number}@reserved.test"}).encode()
    head = (
        f"POST /v1/validate HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {who.key}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    send_and_leave(site, head.encode() + body)


def kill_a_web_worker(site: Product) -> None:
    (web,) = [one for one in psutil.Process(site.process.pid).children() if one.children()]
    web.children()[0].send_signal(signal.SIGKILL)
