"""Uploads at the same moment, in several transactions."""

from collections import Counter
from typing import Any

from accounts.models import Account, User
from apikeys.actor import Actor
from apikeys.errors import ApiError
from credits.models import Hold, Plan
from lists.models import AddressList, ListPart
from lists.uploads.services import create_list, store_part
from tests.conftest import create_owners_key
from tests.lists.factory import make_list
from tests.support.api_client import ApiClient
from tests.support.fresh_database import run_concurrently


def codes(results: list[Any]) -> Counter[str]:
    return Counter(
        result.code if isinstance(result, ApiError) else type(result).__name__ for result in results
    )


def test_concurrent_parts_stay_within_the_bytes_of_all_lists(shop: Account) -> None:
    Plan.objects.update(list_bytes=100)
    lists = [create_list(actor=Actor(shop)) for _ in range(4)]

    def store(number: int) -> ListPart:
        return store_part(address_list=lists[number], number=1, content=b"x" * 60)

    results = run_concurrently(4, store)
    assert codes(results) == {"ListPart": 1, "list_too_large": 3}


def test_of_concurrent_parts_with_one_number_one_is_stored(shop: Account) -> None:
    uploaded = create_list(actor=Actor(shop))

    def store(number: int) -> ListPart:
        return store_part(address_list=uploaded, number=1, content=b"%d" % (number // 2))

    results = run_concurrently(4, store)
    assert codes(results) == {"ListPart": 2, "part_conflict": 2}
    assert ListPart.objects.count() == 1
    assert AddressList.objects.get().bytes == 1


def test_concurrent_requests_with_one_idempotency_key_create_one_list(shop: Account) -> None:
    secret, body = create_owners_key(User.objects.get()), {"emails": ["jane@shop.example"]}

    def create(_: int) -> Any:
        return ApiClient(secret).send_json("POST", "/v1/lists", body, Idempotency_Key="list-1")

    responses = run_concurrently(4, create)
    assert {response.status_code for response in responses} == {201}
    assert len({response.content for response in responses}) == 1
    assert AddressList.objects.count() == 1


def test_concurrent_starts_with_one_idempotency_key_get_one_response(shop: Account) -> None:
    made = make_list(shop, ["deliverable@sandbox.test"])
    secret = create_owners_key(User.objects.get())

    def start(_: int) -> Any:
        path = f"/v1/lists/{made.public_id}/start"
        return ApiClient(secret).call("POST", path, Idempotency_Key="start-1")

    responses = run_concurrently(4, start)
    assert {response.status_code for response in responses} == {200}
    assert len({response.content for response in responses}) == 1
    assert Hold.objects.count() == 1


def test_concurrent_requests_create_no_more_lists_than_allowed(shop: Account) -> None:
    for _ in range(18):
        create_list(actor=Actor(shop))
    results = run_concurrently(4, lambda _: create_list(actor=Actor(shop)))
    assert codes(results) == {"AddressList": 2, "too_many_lists": 2}
