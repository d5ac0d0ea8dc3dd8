"""Long polling: GET /v1/lists/{id}?wait=…"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from django.db import connection

from accounts.models import Account
from lists.api import waiting
from lists.models import AddressList
from lists.models.states import ListState
from tests.conftest import create_owners_key, sign_up_owner
from tests.lists.results_factory import make_list, make_ready_list, set_state
from tests.support.api_client import ApiClient, error_code, refusal

# Five requests that wait for 30 seconds would exceed the time limit of a test.
REQUESTS = 5


@pytest.fixture
def _taken_slots() -> Iterator[None]:
    with ExitStack() as stack:
        for _ in range(waiting.MAX_WAITING):
            stack.enter_context(waiting._slots)
        yield


def make_running_list() -> tuple[ApiClient, AddressList]:
    """Make a list in the private database, where other connections see it."""
    caller = ApiClient(create_owners_key(sign_up_owner()))
    account = Account.objects.get()
    return caller, make_list(account, state=ListState.RUNNING)


def get_while(caller: ApiClient, made: AddressList, act: Callable[[], object]) -> Any:
    """Wait for a change of a list, and act as soon as the request waits."""

    def act_when_waited_for() -> None:
        while waiting._slots._value == waiting.MAX_WAITING:
            threading.Event().wait(0.01)
        act()
        connection.close()

    acting = threading.Thread(target=act_when_waited_for)
    acting.start()
    response = caller.get(f"/v1/lists/{made.public_id}?wait=30")
    acting.join()
    return response


@pytest.mark.anywhere
def test_wrong_wait_is_refused(caller: ApiClient, account: Account) -> None:
    made = make_ready_list(account)
    for wait in ("31", "-1", "1.5", ""):
        response = caller.get(f"/v1/lists/{made.public_id}?wait={wait}")
        assert refusal(response) == (400, "invalid_field", "wait")


@pytest.mark.usefixtures("fresh_database")
def test_response_is_sent_when_the_state_changes() -> None:
    caller, made = make_running_list()

    response = get_while(caller, made, lambda: set_state(made, ListState.COMPLETED))
    assert response.json()["state"] == "completed"


@pytest.mark.anywhere
def test_parsed_list_that_will_start_is_waited_for(caller: ApiClient, account: Account) -> None:
    made = make_ready_list(account, starts_when_ready=True)
    begun = time.monotonic()
    response = caller.get(f"/v1/lists/{made.public_id}?wait=1")
    assert response.json()["state"] == "parsing"
    assert time.monotonic() - begun >= 1


@pytest.mark.usefixtures("fresh_database")
def test_list_that_is_deleted_in_the_meantime_is_not_found() -> None:
    caller, made = make_running_list()

    response = get_while(caller, made, AddressList.objects.all().delete)
    assert error_code(response) == "not_found"


@pytest.mark.anywhere
@pytest.mark.usefixtures("_taken_slots")
def test_beyond_the_limit_of_waiting_calls_none_waits(caller: ApiClient, account: Account) -> None:
    made = make_list(account, state=ListState.RUNNING)
    responses = [caller.get(f"/v1/lists/{made.public_id}?wait=30") for _ in range(REQUESTS)]
    assert {response.json()["state"] for response in responses} == {"running"}


@pytest.mark.anywhere
@pytest.mark.parametrize(
    "state", [ListState.READY, ListState.PAUSED, ListState.COMPLETED, ListState.EXPIRED]
)
def test_nothing_is_waited_for_unless_we_work_on_the_list(
    caller: ApiClient, account: Account, state: ListState
) -> None:
    made = make_list(account, state=state)
    responses = [caller.get(f"/v1/lists/{made.public_id}?wait=30") for _ in range(REQUESTS)]
    assert {response.json()["state"] for response in responses} == {state.value}
