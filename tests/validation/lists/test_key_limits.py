"""Lists count toward the credit limit of the key that created them."""

import json
from typing import Any

import pytest
from django.test import Client

from accounts.models import Account, User
from apikeys.models import ApiKey
from apikeys.services import find_credit_use
from credits.models import Wallet
from credits.wallet.books import find_discrepancies
from tests.conftest import signed_in
from tests.support.api_client import ApiClient, error_code
from tests.validation.lists.results_factory import make_ready_list
from validation.lists.processing.running import work_once
from validation.models import AddressList
from validation.models.list_states import State

pytestmark = pytest.mark.django_db

# Three of four cost a credit. The sandbox is free, but its address counts in the price.
EMAILS = ["no-at-end@", "jane@localhost", "deliverable@sandbox.test", "@shop.example"]
REACHED = "key_credit_limit_reached"


@pytest.fixture
def limited(key: ApiKey) -> ApiKey:
    ApiKey.objects.filter(pk=key.pk).update(credits_per_month=5)
    return ApiKey.objects.get(pk=key.pk)


def upload(caller: ApiClient, **options: Any) -> AddressList:
    body = json.dumps({"emails": EMAILS, **options}).encode()
    document = caller.call("POST", "/v1/lists", body).json()
    while work_once():
        pass
    return AddressList.objects.get(public_id=document["id"])


def act(caller: ApiClient, address_list: AddressList, action: str) -> Any:
    return caller.call("POST", f"/v1/lists/{address_list.public_id}/{action}")


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
    while work_once():
        pass
    made.refresh_from_db()
    assert made.state == State.COMPLETED
    assert used(limited) == (4, 0)
    assert caller.validate("no address").status_code == 200
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
    assert (made.state, made.hold) == (State.READY, None)
    assert used(limited) == (2, 0)


def test_list_that_should_start_when_ready_says_why_it_did_not(
    limited: ApiKey, caller: ApiClient
) -> None:
    for _ in range(2):
        caller.validate("no address")
    made = upload(caller, start=True)
    assert (made.state, made.error_code) == (State.READY, REACHED)
    assert "2 of 5 credits used in" in made.error_message
    assert made.error_message.endswith("Settings → API Keys.")


def test_dashboard_explains_that_the_key_of_a_list_has_no_credits_left(
    limited: ApiKey, caller: ApiClient, owner: User
) -> None:
    made = upload(caller)
    for _ in range(2):
        caller.validate("no address")
    client: Client = signed_in(owner)
    path = f"/validation/lists/{made.public_id}/start/"
    page = client.post(path, follow=True).content.decode()
    assert "The API key that created this list has too few credits left" in page


def test_lists_of_the_dashboard_do_not_count(
    limited: ApiKey, account: Account, caller: ApiClient
) -> None:
    content = "\n".join(["email", *EMAILS]).encode()
    lists = [make_ready_list(account, content) for _ in range(2)]
    assert [act(caller, made, "start").status_code for made in lists] == [200, 200]
    while work_once():
        pass
    assert used(limited) == (0, 0)
    assert Wallet.objects.get(account=account).balance == 94
