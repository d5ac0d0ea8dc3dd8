"""A key is charged for exactly its limit, across processes, batches and rotation."""

import json
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.credits.killed_processes import product_on
from tests.servers.books import fetch_number
from tests.servers.client import ClientResponse, HttpCaller
from tests.servers.keys import make_key, manage
from tests.servers.product import Product

pytestmark = [pytest.mark.process, pytest.mark.proof]

WORKERS, THREADS, LIMIT, BATCH_SIZE = 4, 16, 300, 7
REACHED = "key_credit_limit_reached"
ROTATE = """
from datetime import timedelta
from apikeys.models import ApiKey
from apikeys.services import rotate_key
key = ApiKey.objects.get(last_four={last_four!r})
actor = key.account.memberships.get().user
print(rotate_key(key=key, grace=timedelta(days=7), actor=actor)[1])
"""


@pytest.fixture(params=["sqlite", "postgresql"])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Product]:
    with product_on(request.param, tmp_path, WEB_WORKERS=str(WORKERS)) as running:
        yield running


def run(site: Product, code: str) -> str:
    return manage(site, "shell", "--no-imports", "-c", code)


def make_limited_key(site: Product, email: str) -> str:
    secret = make_key(site, email, 100_000, credits=10_000)
    change = f"filter(last_four={secret[-4:]!r}).update(credits_per_month={LIMIT})"
    run(site, f"from apikeys.models import ApiKey; ApiKey.objects.{change}")
    return secret


def send_batch(caller: HttpCaller) -> ClientResponse:
    emails = [f"no address {number}" for number in range(BATCH_SIZE)]
    return caller.call("POST", "/v1/validate/batch", json.dumps({"emails": emails}))


def outcome_of(response: ClientResponse) -> str:
    """Return the error's code, or the status of a response without one."""
    document = response.document
    return document["error"]["code"] if "error" in document else str(response.status)


def assert_charged_exactly_the_limit(site: Product) -> None:
    assert "agree" in manage(site, "check_books")
    logged = fetch_number(site, "SELECT SUM(cost) FROM validation_logentry")
    assert (logged, fetch_number(site, "SELECT SUM(credits) FROM credits_usehour")) == (LIMIT,) * 2
    emails = "SELECT COUNT(*) FROM runtime_mail WHERE subject LIKE 'Credit limit reached%'"
    assert fetch_number(site, emails) == 1


def test_calls_batches_and_rotated_keys_are_charged_for_exactly_the_limit(site: Product) -> None:
    old = make_limited_key(site, "exact@shop.example")
    callers = [
        HttpCaller(site, old),
        HttpCaller(site, run(site, ROTATE.format(last_four=old[-4:]))),
    ]

    def send(number: int) -> ClientResponse:
        caller = callers[number % 2]
        if number % 10 < 2:
            return send_batch(caller)
        if number % 10 == 2:
            return caller.validate("no address", Idempotency_Key=f"call-{number}")
        return caller.validate("no address")

    with ThreadPoolExecutor(THREADS) as pool:
        responses = list(pool.map(send, range(400)))
    outcomes = Counter(map(outcome_of, responses))
    assert outcomes.keys() == {"200", REACHED}, outcomes
    charged = sum(int(response.headers.get("X-Credits-Cost", 0)) for response in responses)
    assert charged == LIMIT
    assert_charged_exactly_the_limit(site)
