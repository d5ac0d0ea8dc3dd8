"""Lists count toward the credit limit of the key that starts them."""

from typing import Any

import pytest
from django.db.models import Sum
from django.test import Client

from accounts.models import Account, User
from apikeys.models import ApiKey
from apikeys.services import create_key, find_credit_use
from credits.models import UseHour
from credits.services import deduct, grant
from credits.wallet.books import find_discrepancies
from lists.models import AddressList
from lists.models.states import ListState
from tests.conftest import signed_in
from tests.lists.results_factory import make_ready_list
from tests.lists.runs import work
from tests.support.api_client import ApiClient, error_code

pytestmark = pytest.mark.django_db

# Four of five cost a credit. The sandbox is free.
EMAILS = ["no-at-end@", "jane@localhost", "deliverable@sandbox.test", "@shop.example", "a@@b"]
REACHED = "key_credit_limit_reached"


@pytest.fixture
def limited(key: ApiKey) -> ApiKey:
    ApiKey.objects.filter(pk=key.pk).update(credits_per_month=5)
    return ApiKey.objects.get(pk=key.pk)


def upload(caller: ApiClient, **options: Any) -> AddressList:
    document = caller.send_json("POST", "/v1/lists", {"emails": EMAILS, **options}).json()
    work()
    return AddressList.objects.get(public_id=document["id"])


def act(
    caller: ApiClient, address_list: AddressList, action: str, body: dict[str, Any] | None = None
) -> Any:
    return caller.send_json("POST", f"/v1/lists/{address_list.public_id}/{action}", body)


def finish(*lists: AddressList) -> None:
    work()
    for address_list in lists:
        address_list.refresh_from_db()


def calls_of(key: ApiKey | None) -> int:
    """Return how many paid addresses of lists are in the key's usage."""
    used = UseHour.objects.filter(key=key, credits__gt=0, duration_ms=0)
    return used.aggregate(calls=Sum("calls"))["calls"] or 0


def used(key: ApiKey) -> tuple[int, int]:
    assert not list(find_discrepancies())
    use = find_credit_use([key])[key.pk]
    return use.charged, use.held


def test_started_list_counts_with_its_hold_and_then_with_its_charges(
    limited: ApiKey, caller: ApiClient
) -> None:
    made = upload(caller)
    assert used(limited) == (0, 0)
    assert act(caller, made, "start").status_code == 200
    assert used(limited) == (0, 4)
    assert [caller.validate("no address").status_code for _ in range(2)] == [200, 402]
    finish(made)
    assert made.state == ListState.COMPLETED
    assert used(limited) == (5, 0)
    assert error_code(caller.validate("no address")) == REACHED


def test_canceled_list_gives_its_credits_back(limited: ApiKey, caller: ApiClient) -> None:
    made = upload(caller)
    act(caller, made, "start")
    act(caller, made, "cancel")
    assert used(limited) == (0, 0)


def test_list_beyond_the_limit_is_not_started(limited: ApiKey, caller: ApiClient) -> None:
    made = upload(caller)
    for _ in range(2):
        caller.validate("no address")
    response = act(caller, made, "start")
    assert (response.status_code, error_code(response)) == (402, REACHED)
    details = response.json()["error"]["details"]
    assert (details["required"], details["remaining"]) == (4, 3)
    made.refresh_from_db()
    assert (made.state, made.hold) == (ListState.READY, None)
    assert used(limited) == (2, 0)


def test_list_that_should_start_itself_says_why_not(limited: ApiKey, caller: ApiClient) -> None:
    for _ in range(2):
        caller.validate("no address")
    made = upload(caller, start=True)
    assert (made.state, made.error_code) == (ListState.READY, REACHED)
    assert "2 of 5 credits used in" in made.error_message
    assert made.error_message.endswith("Settings → API Keys.")


def test_list_started_in_the_dashboard_does_not_count(
    limited: ApiKey, caller: ApiClient, owner: User
) -> None:
    made = upload(caller)
    for _ in range(2):
        caller.validate("no address")
    client: Client = signed_in(owner)
    client.post(f"/lists/{made.public_id}/start/")
    finish(made)
    assert used(limited) == (2, 0)
    assert calls_of(None) == 4


@pytest.mark.parametrize("column", [None, 1])
def test_list_of_another_counts_for_the_key_that_starts_it(
    limited: ApiKey, account: Account, caller: ApiClient, column: int | None
) -> None:
    content = "\n".join(["email,copy", *(f"{email},{email}" for email in EMAILS)]).encode()
    lists = [make_ready_list(account, content) for _ in range(2)]
    body = None if column is None else {"column": column}
    first, second = (act(caller, made, "start", body) for made in lists)
    assert first.status_code == 200
    finish(*lists)
    if column is None:
        assert (second.status_code, error_code(second)) == (402, REACHED)
    assert lists[1].state == ListState.READY
    assert used(limited) == (4, 0)
    assert calls_of(limited) == 4


def test_limit_of_the_key_that_created_a_list_does_not_hold_for_another_key(
    limited: ApiKey, account: Account, caller: ApiClient, owner: User
) -> None:
    made = upload(caller)
    for _ in range(2):
        caller.validate("no address")
    other, secret = create_key(account=account, name="Unlimited", actor=owner)
    assert act(ApiClient(secret), made, "start").status_code == 200
    finish(made)
    assert used(limited) == (2, 0)
    assert calls_of(other) == 4


def test_new_hold_of_a_resumed_list_counts_for_the_key_that_resumes_it(
    limited: ApiKey, account: Account, caller: ApiClient, owner: User
) -> None:
    secret = create_key(account=account, name="Unlimited", actor=owner)[1]
    made = upload(ApiClient(secret))
    for action in ("start", "pause"):
        act(ApiClient(secret), made, action)
    deduct(account=account, amount=97, reason="Granted in error", actor=None)
    grant(account=account, amount=100, reason="Sorry", actor=None)
    for _ in range(2):
        caller.validate("no address")
    assert error_code(act(caller, made, "resume")) == REACHED
    assert used(limited) == (2, 0)
    assert act(ApiClient(secret), made, "resume").status_code == 200
    assert used(limited) == (2, 0)
