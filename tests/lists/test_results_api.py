"""GET /v1/lists/{id}/results: pages of rows, and the states in which there are any."""

from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Account
from apikeys.actor import Actor
from lists.models import AddressList, ListChunk
from lists.models.states import ListState
from lists.uploads.services import create_list
from tests.lists.results_factory import make_list, make_ready_list, set_state
from tests.support.api_client import ApiClient, error_code, refusal

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]


def results(caller: ApiClient, address_list: AddressList, query: str = "") -> Any:
    return caller.get(f"/v1/lists/{address_list.public_id}/results{query}")


def test_each_row_has_its_number_kind_and_whole_result(caller: ApiClient, account: Account) -> None:
    page = results(caller, make_list(account)).json()
    assert [(row["row"], row["kind"], row["duplicate_of"]) for row in page["data"]] == [
        (1, "address", None),
        (2, "address", None),
        (3, "empty", None),
        (4, "not_address", None),
        (5, "duplicate", 1),
        (6, "address", None),
        (7, "address", None),
    ]
    single = caller.validate("deliverable@sandbox.test").json()
    result = page["data"][0]["result"]
    assert result == {name: single[name] for name in result}
    assert {"email", "verdict", "checks", "mx", "smtp"} < result.keys()
    assert page["data"][2]["result"] is None
    assert (page["has_more"], page["next"], page["state"]) == (False, None, "completed")


def test_pages_follow_each_other_by_row(caller: ApiClient, account: Account) -> None:
    made = make_list(account)
    first = results(caller, made, "?limit=3").json()
    assert ([row["row"] for row in first["data"]], first["next"]) == ([1, 2, 3], 3)
    second = results(caller, made, "?limit=3&starting_after=3").json()
    assert ([row["row"] for row in second["data"]], second["next"]) == ([4, 5, 6], 6)
    # It ends with the last row.
    last = results(caller, made, "?limit=1&starting_after=6").json()
    assert ([row["row"] for row in last["data"]], last["has_more"]) == ([7], False)


def test_wrong_parameter_is_refused(caller: ApiClient, account: Account) -> None:
    made = make_list(account)
    for query, param in [
        ("filter=good", "filter"),
        ("filter=all&filter=risky", "filter"),
        ("limit=1001", "limit"),
        ("limit=0", "limit"),
        ("starting_after=-1", "starting_after"),
        ("starting_after=lst_1", "starting_after"),
        ("starting_after=%F0%9D%9F%9A", "starting_after"),
    ]:
        response = results(caller, made, f"?{query}")
        assert refusal(response) == (400, "invalid_field", param), query


def test_unfinished_list_shows_its_results_and_state(caller: ApiClient, account: Account) -> None:
    made = make_list(account)
    for state in ("running", "paused", "rechecking", "canceled", "failed"):
        set_state(made, ListState(state))
        page = results(caller, made).json()
        assert (len(page["data"]), page["state"]) == (7, state)


def test_list_without_results_has_no_rows_or_downloads(caller: ApiClient, account: Account) -> None:
    never_started, failed, expired = (make_ready_list(account) for _ in range(3))
    set_state(failed, ListState.FAILED, started_at=None)
    set_state(expired, ListState.EXPIRED, expires_at=timezone.now())
    for made, status, code, detail in (
        (create_list(actor=Actor(account)), 409, "invalid_state", "state"),
        (never_started, 409, "invalid_state", "state"),
        (failed, 409, "invalid_state", "state"),
        (expired, 410, "list_expired", "expired_at"),
    ):
        for rest in ("results", "download", "download?partial=true"):
            response = caller.get(f"/v1/lists/{made.public_id}/{rest}")
            assert (response.status_code, error_code(response)) == (status, code), (code, rest)
            assert list(response.json()["error"]["details"]) == [detail]


def test_list_that_is_deleted_meanwhile_is_not_found(caller: ApiClient, account: Account) -> None:
    made = make_list(account)
    # Chunks are deleted first, so a request that began earlier finds none.
    ListChunk.objects.filter(list=made).delete()
    response = results(caller, made)
    assert (response.status_code, error_code(response)) == (404, "not_found")
