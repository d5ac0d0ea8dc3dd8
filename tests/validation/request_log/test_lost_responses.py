"""The 503 responses after a connection loss say correctly whether a charge may be stored."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.servers.books import fetch_number, fetch_rows
from tests.servers.client import ClientResponse, HttpCaller, wait_until_ready
from tests.servers.keys import make_key, manage
from tests.servers.postgres import postgres
from tests.servers.product import Product, product
from tests.servers.relay import Relay, relay
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.fault]

# The result id in the request-log row, which is sent together with the charge.
A_CHARGE, A_COMMIT = b"val_", b"COMMIT"
# Of the key that was created last.
SET_LIMIT = """
UPDATE apikeys_apikey SET credits_per_month = 1000
WHERE id = (SELECT max(id) FROM apikeys_apikey) RETURNING id
"""


@dataclass
class LossySite:
    site: Product
    relay: Relay
    caller: HttpCaller
    # Its key has a credit limit, so it is charged in a transaction of several statements.
    limited_caller: HttpCaller

    def lose(
        self, data: bytes, *, reply: bool, caller: HttpCaller | None = None, **headers: str
    ) -> ClientResponse:
        """Validate while the relay drops the database's reply to `data`, or `data` itself."""
        if reply:
            self.relay.drop_response_to = data
        else:
            self.relay.drop_request_with = data
        refused = (caller or self.caller).validate("no address", **headers)
        self.relay.drop_request_with = self.relay.drop_response_to = None
        wait_until_ready(self.caller)
        return refused

    @property
    def used(self) -> int:
        return fetch_number(self.site, "SELECT SUM(credits) FROM credits_usehour")

    def wait_until_settled_at(self, used: int) -> None:
        lost = "SELECT COUNT(*) FROM validation_lostcharge"
        wait_until(lambda: self.used == used and not fetch_number(self.site, lost))
        assert "agree" in manage(self.site, "check_books")


@pytest.fixture(scope="module")
def lossy_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LossySite]:
    with postgres() as url:
        (folder,) = parse_qs(urlsplit(url).query)["host"]
        with relay(f"{folder}/.s.PGSQL.5432") as database_relay:
            database = f"postgres://postgres@127.0.0.1:{database_relay.port}/postgres"
            data_folder = tmp_path_factory.mktemp("lost")
            with product(data_folder, DATABASE_URL=database, WEB_WORKERS="1") as site:
                caller = HttpCaller(site, make_key(site, "lost@shop.example", 1000))
                # Prepares the statements, which are then sent without their text.
                assert caller.validate("no address").status == 200
                limited = HttpCaller(site, make_key(site, "limited@shop.example", 1000))
                fetch_rows(site, SET_LIMIT)
                yield LossySite(site, database_relay, caller, limited)
                caller.close()
                limited.close()


def reported_charge(response: ClientResponse) -> bool | None:
    error = response.document["error"]
    assert (response.status, error["code"]) == (503, "service_unavailable")
    assert error["details"]["retry_after"] >= 1
    assert ("Nothing was charged" in error["message"]) is (error["details"]["charged"] is False)
    assert ("may have been charged" in error["message"]) is (error["details"]["charged"] is None)
    return error["details"]["charged"]  # type: ignore[no-any-return]


def logged_costs(lossy_site: LossySite, response: ClientResponse) -> list[int]:
    """Return the cost of each log entry of the request."""
    request_id = response.headers["X-Request-Id"]
    rows = fetch_rows(lossy_site.site, "SELECT request_id, cost FROM validation_logentry")
    return [cost for logged_id, cost in rows if logged_id == request_id]


def test_charge_whose_response_is_lost_is_uncertain_and_refunded(lossy_site: LossySite) -> None:
    before = lossy_site.used
    refused = lossy_site.lose(A_CHARGE, reply=True)
    assert reported_charge(refused) is None
    lossy_site.wait_until_settled_at(before)
    assert logged_costs(lossy_site, refused) == [0]


def test_charge_that_never_arrives_is_uncertain_and_not_refunded(lossy_site: LossySite) -> None:
    before = lossy_site.used
    refused = lossy_site.lose(A_CHARGE, reply=False)
    assert reported_charge(refused) is None
    time.sleep(3)
    assert lossy_site.used == before
    assert logged_costs(lossy_site, refused) == []
    assert "agree" in manage(lossy_site.site, "check_books")
    fetch_rows(lossy_site.site, "DELETE FROM validation_lostcharge RETURNING id")


EACH_PATH = pytest.mark.parametrize(("has_limit", "lost"), [(False, A_CHARGE), (True, A_COMMIT)])


@EACH_PATH
def test_with_an_idempotency_key_the_retry_gets_the_lost_result(
    lossy_site: LossySite, has_limit: bool, lost: bytes
) -> None:
    caller = lossy_site.limited_caller if has_limit else lossy_site.caller
    before, key = lossy_site.used, f"answered-{has_limit}"
    refused = lossy_site.lose(lost, reply=True, caller=caller, Idempotency_Key=key)
    assert reported_charge(refused) is None
    again = caller.validate("no address", Idempotency_Key=key)
    assert (again.status, again.headers["Idempotent-Replayed"]) == (200, "true")
    assert again.headers["X-Credits-Cost"] == "0"
    assert again.document["credits"]["charged"] == 1
    lossy_site.wait_until_settled_at(before + 1)


@EACH_PATH
def test_charge_with_a_key_that_never_arrives_is_reported_as_uncertain(
    lossy_site: LossySite, has_limit: bool, lost: bytes
) -> None:
    caller = lossy_site.limited_caller if has_limit else lossy_site.caller
    before, key = lossy_site.used, f"unsent-{has_limit}"
    refused = lossy_site.lose(lost, reply=False, caller=caller, Idempotency_Key=key)
    assert reported_charge(refused) is None
    again = caller.validate("no address", Idempotency_Key=key)
    assert (again.status, again.headers["X-Credits-Cost"]) == (200, "1")
    lossy_site.wait_until_settled_at(before + 1)


@pytest.mark.parametrize("reply", [True, False])
def test_connection_lost_before_the_commit_certainly_charges_nothing(
    lossy_site: LossySite, reply: bool
) -> None:
    before = lossy_site.used
    caller, key = lossy_site.limited_caller, f"early-{reply}"
    refused = lossy_site.lose(A_CHARGE, reply=reply, caller=caller, Idempotency_Key=key)
    assert reported_charge(refused) is False
    assert lossy_site.used == before
    assert logged_costs(lossy_site, refused) == []


def test_connection_lost_during_authentication_charges_nothing(lossy_site: LossySite) -> None:
    before = lossy_site.used
    # A new connection prepares the query again and therefore sends its text.
    lossy_site.relay.drop()
    refused = lossy_site.lose(b"apikeys_apikey", reply=True)
    assert reported_charge(refused) is False
    assert lossy_site.used == before
