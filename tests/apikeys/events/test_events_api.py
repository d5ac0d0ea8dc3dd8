"""GET /v1/events and /v1/events/{id}."""

import json
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Account, Event, User
from accounts.webhooks.fan_out import number_events
from tests.accounts.webhooks.factory import COMPLETED, READY, record
from tests.support.api_client import ApiClient, error_code, read_all

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

BODY = 'AS "body" FROM'


@pytest.fixture
def events(account: Account) -> list[Event]:
    """Five events, of which the second and the fourth are of another type."""
    Event.objects.all().delete()
    made = [record(account, COMPLETED if n % 2 else READY, {"number": n}) for n in range(5)]
    number_events()
    return made


def read(caller: ApiClient, **query: str) -> list[str]:
    cursor = "after" if "after" in query else "starting_after"
    return read_all(caller, "/v1/events", cursor, **query)


def assert_refused(response: Any, param: str, *words: str) -> None:
    assert (response.status_code, error_code(response)) == (400, "invalid_field")
    error = response.json()["error"]
    assert error["param"] == param
    assert all(word in error["message"] for word in words), error


def test_pages_contain_each_event_once_in_both_directions(
    caller: ApiClient, events: list[Event]
) -> None:
    ids = [event.public_id for event in events]
    assert read(caller) == ids[::-1]
    assert read(caller, starting_after=ids[2]) == ids[1::-1]
    assert read(caller, after="") == ids
    assert read(caller, after=ids[1]) == ids[2:]
    assert read(caller, after=ids[4]) == []
    assert read(caller, type="list.completed") == [ids[3], ids[1]]
    assert read(caller, type="list.completed,list.ready", after="") == ids
    assert read(caller, type="list.ready", after=ids[1]) == [ids[2], ids[4]]
    assert len(caller.get("/v1/events").json()["data"]) == 5


def test_events_are_the_stored_bodies(
    caller: ApiClient, account: Account, events: list[Event]
) -> None:
    text = {"ß": "é\u2028", "big": 9007199254740993, "share": 0.1, "null": None}
    event = record(account, READY, text)
    number_events()
    page = caller.get("/v1/events?limit=1")
    assert f'{{"data":[{event.body}],"has_more":true' in page.content.decode()
    one = caller.get(f"/v1/events/{event.public_id}")
    assert one.content.decode() == event.body
    assert json.loads(event.body)["account_id"] == account.public_id
    assert "X-RateLimit-Remaining" in one.headers
    assert "X-Credits-Cost" not in one.headers


def test_event_without_a_number_is_newer_than_all_listed_ones(
    caller: ApiClient, account: Account, events: list[Event]
) -> None:
    ids = [event.public_id for event in events]
    new = record(account).public_id
    assert read(caller) == read(caller, starting_after=new) == ids[::-1]
    assert read(caller, after=new) == []
    assert caller.get(f"/v1/events/{new}").json()["id"] == new
    number_events()
    assert read(caller, after=ids[4]) == [new]


def test_other_accounts_events_are_unknown(
    caller: ApiClient, events: list[Event], stranger: User
) -> None:
    theirs = record(Account.objects.get(memberships__user=stranger)).public_id
    number_events()
    assert theirs not in read(caller)
    for name in (theirs, "evt_00000000000000000000", "evt_%00", "lst_", "none"):
        for param in ("after", "starting_after"):
            response = caller.get(f"/v1/events?{param}={name}")
            assert_refused(response, param, "30 days", "empty `after`")
        response = caller.get(f"/v1/events/{name}")
        assert (response.status_code, error_code(response)) == (404, "not_found")
    assert error_code(caller.call("POST", f"/v1/events/{theirs}")) == "not_found"
    own = events[0].public_id
    assert error_code(caller.call("POST", f"/v1/events/{own}")) == "method_not_allowed"


def test_wrong_parameters_are_refused(caller: ApiClient, events: list[Event]) -> None:
    own = events[0].public_id
    both = caller.get(f"/v1/events?after={own}&starting_after={own}")
    assert_refused(both, "starting_after", "not both")
    for types in ("list.lost", "list.ready,", "", "list.ready, list.completed"):
        wrong = caller.get(f"/v1/events?type={types}")
        assert_refused(wrong, "type", "list.ready, list.results_ready, list.completed")
    for limit in ("0", "101", "x"):
        assert_refused(caller.get(f"/v1/events?limit={limit}"), "limit", "from 1 to 100")
    assert error_code(caller.get("/v1/events?before=x")) == "unknown_field"
    assert error_code(caller.get(f"/v1/events/{own}?limit=1")) == "unknown_field"


@pytest.mark.both
@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="PostgreSQL only")
def test_page_is_one_scan_of_the_accounts_index(caller: ApiClient, account: Account) -> None:
    others = Account.objects.bulk_create(Account(name=f"Shop {n}") for n in range(199))
    accounts = [account, *others]
    Event.objects.all().delete()
    made = Event.objects.bulk_create(
        Event(account=accounts[n % 200], type="list.ready", body="{}", number=n)
        for n in range(8000)
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE accounts_event")
        # For few rows, sorting costs as little as reading them in order.
        cursor.execute("SET LOCAL enable_bitmapscan = off")
    seen = made[2000].public_id
    for query in ("", "after=", f"after={seen}", f"starting_after={seen}&type=list.ready"):
        with CaptureQueriesContext(connection) as queries:
            caller.get(f"/v1/events?{query}")
        (page,) = (one["sql"] for one in queries if BODY in (one["sql"] or ""))
        assert page.count("LIMIT") == 1, query
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN {page}")
            plan = "\n".join(line for (line,) in cursor.fetchall())
        assert "using event_by_account" in plan, query
        assert "Sort" not in plan, query
