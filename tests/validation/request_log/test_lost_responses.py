"""A 503 never lies about money: the database's answer to a charge is lost on the way."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.servers.books import ask, number
from tests.servers.client import HttpAnswer, HttpCaller, until_ready
from tests.servers.keys import make_key, manage
from tests.servers.postgres import postgres
from tests.servers.product import Product, product
from tests.servers.relay import Relay, relay

pytestmark = [pytest.mark.process, pytest.mark.proof]

# In the row of the request log, which goes to the database with the charge.
A_CHARGE, A_COMMIT = b"val_", b"COMMIT"


@dataclass
class Place:
    site: Product
    between: Relay
    caller: HttpCaller

    def lose(self, what: bytes, *, answer: bool, **headers: str) -> HttpAnswer:
        """A validation during which the database's answer is lost, or what is sent to it."""
        if answer:
            self.between.loses_answer_to = what
        else:
            self.between.loses = what
        refused = self.caller.validate("no address", **headers)
        self.between.loses = self.between.loses_answer_to = None
        until_ready(self.caller)
        return refused

    @property
    def used(self) -> int:
        return number(self.site, "SELECT SUM(credits) FROM credits_usehour")

    def becomes_settled(self, used: int) -> bool:
        ends_at = time.monotonic() + 15
        while self.used != used or number(self.site, "SELECT COUNT(*) FROM validation_lostcharge"):
            if time.monotonic() > ends_at:
                return False
            time.sleep(0.2)
        assert "agree" in manage(self.site, "check_books")
        return True


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with postgres() as url:
        (folder,) = parse_qs(urlsplit(url).query)["host"]
        with relay(f"{folder}/.s.PGSQL.5432") as between:
            database = f"postgres://postgres@127.0.0.1:{between.port}/postgres"
            where = tmp_path_factory.mktemp("lost")
            with product(where, DATABASE_URL=database, WEB_WORKERS="1") as site:
                caller = HttpCaller(site, make_key(site, "lost@shop.example", 1000))
                # What is prepared on a connection says less of itself later.
                assert caller.validate("no address").status == 200
                yield Place(site, between, caller)
                caller.close()


def charged(answer: HttpAnswer) -> bool | None:
    error = answer.document["error"]
    assert (answer.status, error["code"]) == (503, "service_unavailable")
    assert error["details"]["retry_after"] >= 1
    assert ("Nothing was charged" in error["message"]) is (error["details"]["charged"] is False)
    assert ("may have been charged" in error["message"]) is (error["details"]["charged"] is None)
    return error["details"]["charged"]  # type: ignore[no-any-return]


def cost_of(place: Place, answer: HttpAnswer) -> list[int]:
    """The request is found in the log by its id."""
    request_id = answer.headers["X-Request-Id"]
    rows = ask(place.site, "SELECT request_id, cost FROM validation_logentry")
    return [cost for one, cost in rows if one == request_id]


def test_a_charge_whose_response_is_lost_is_said_to_be_open_and_refunded(place: Place) -> None:
    before = place.used
    refused = place.lose(A_CHARGE, answer=True)
    assert charged(refused) is None
    assert place.becomes_settled(before)
    assert cost_of(place, refused) == [0]


def test_a_charge_that_never_arrives_is_said_to_be_open_and_not_refunded(place: Place) -> None:
    before = place.used
    refused = place.lose(A_CHARGE, answer=False)
    assert charged(refused) is None
    time.sleep(3)
    assert place.used == before
    assert cost_of(place, refused) == []
    assert "agree" in manage(place.site, "check_books")
    ask(place.site, "DELETE FROM validation_lostcharge RETURNING id")


def test_with_an_idempotency_key_the_retry_gets_the_lost_result(place: Place) -> None:
    before = place.used
    refused = place.lose(A_COMMIT, answer=True, Idempotency_Key="lost-one")
    assert charged(refused) is None
    again = place.caller.validate("no address", Idempotency_Key="lost-one")
    assert (again.status, again.headers["Idempotent-Replayed"]) == (200, "true")
    assert again.headers["X-Credits-Cost"] == "0"
    assert again.document["credits"]["charged"] == 1
    assert place.becomes_settled(before + 1)


def test_a_commit_that_never_arrives_is_said_to_be_open(place: Place) -> None:
    before = place.used
    refused = place.lose(A_COMMIT, answer=False, Idempotency_Key="lost-two")
    assert charged(refused) is None
    again = place.caller.validate("no address", Idempotency_Key="lost-two")
    assert (again.status, again.headers["X-Credits-Cost"]) == (200, "1")
    assert place.becomes_settled(before + 1)


@pytest.mark.parametrize("answer", [True, False])
def test_what_is_lost_before_the_commit_was_certainly_not_charged(
    place: Place, answer: bool
) -> None:
    before = place.used
    refused = place.lose(A_CHARGE, answer=answer, Idempotency_Key=f"early-{answer}")
    assert charged(refused) is False
    assert place.used == before
    assert cost_of(place, refused) == []


def test_a_lost_look_up_of_the_key_was_certainly_not_charged(place: Place) -> None:
    before = place.used
    # A new connection prepares the query, and so sends its text.
    place.between.drop()
    refused = place.lose(b"apikeys_apikey", answer=True)
    assert charged(refused) is False
    assert place.used == before
