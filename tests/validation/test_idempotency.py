"""Requests with an Idempotency-Key: replays, conflicts and races."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import Account, User
from apikeys import services
from apikeys.errors import ApiError
from credits.wallet.charges import get_balance
from tests.support.api_client import ApiClient, error_code, refusal
from validation.models import Replay
from validation.models.replays import digest
from validation.services import validate
from validation.validations import Caller

pytestmark = pytest.mark.django_db

DEFINITE, ANOTHER, UNKNOWN = "no address", "no address either", "jane@ordinary-shop.com"


def test_same_key_and_address_get_the_first_response_byte_for_byte(caller: ApiClient) -> None:
    first = caller.validate(DEFINITE, Idempotency_Key="order-1")
    again = caller.validate(DEFINITE, Idempotency_Key="order-1")
    assert again.status_code == 200
    assert again.content == first.content
    assert again.headers["Idempotent-Replayed"] == "true"
    assert "Idempotent-Replayed" not in first.headers
    assert again.headers["X-RateLimit-Remaining"] == "58"
    assert again.headers["X-Request-Id"] != first.headers["X-Request-Id"]


def test_without_a_key_no_replay_is_stored(caller: ApiClient) -> None:
    assert caller.validate(DEFINITE).content != caller.validate(DEFINITE).content
    assert not Replay.objects.exists()


def test_same_key_with_another_address_is_422(caller: ApiClient) -> None:
    caller.validate(DEFINITE, Idempotency_Key="order-1")
    response = caller.validate(ANOTHER, Idempotency_Key="order-1")
    assert (response.status_code, error_code(response)) == (422, "idempotency_key_reused")
    assert caller.validate(ANOTHER, Idempotency_Key="order-2").status_code == 200


def test_request_runs_again_after_an_error(caller: ApiClient) -> None:
    refused = caller.validate("internal_error@sandbox.test", Idempotency_Key="order-1")
    assert refused.status_code == 500
    response = caller.validate(DEFINITE, Idempotency_Key="order-1")
    assert "Idempotent-Replayed" not in response.headers


def test_unknown_of_the_sandbox_is_replayed(caller: ApiClient) -> None:
    first = caller.validate("unknown@sandbox.test", Idempotency_Key="order-1")
    again = caller.validate("unknown@sandbox.test", Idempotency_Key="order-1")
    assert again.content == first.content


def test_idempotency_keys_are_of_an_account(caller: ApiClient, other_caller: ApiClient) -> None:
    caller.validate(DEFINITE, Idempotency_Key="order-1")
    response = other_caller.validate(ANOTHER, Idempotency_Key="order-1")
    assert response.status_code == 200
    assert "Idempotent-Replayed" not in response.headers


def test_keys_of_an_account_share_replays(caller: ApiClient, account: Account, owner: User) -> None:
    _, other = services.create_key(account=account, name="Other", actor=owner)
    first = caller.validate(DEFINITE, Idempotency_Key="order-1")
    assert ApiClient(other).validate(DEFINITE, Idempotency_Key="order-1").content == first.content


def test_idempotency_key_can_be_reused_after_24_hours(caller: ApiClient) -> None:
    first = caller.validate(DEFINITE, Idempotency_Key="order-1")
    Replay.objects.update(created_at=timezone.now() - timedelta(hours=24))
    later = caller.validate(ANOTHER, Idempotency_Key="order-1")
    assert later.content != first.content
    assert "Idempotent-Replayed" not in later.headers
    assert Replay.objects.count() == 1


@pytest.mark.anywhere
def test_key_may_contain_any_visible_ascii_and_nothing_else(caller: ApiClient) -> None:
    for key in ("!", "~", "x" * 255, "3b1f-uuid", 'a,b;c="d"'):
        assert caller.validate(DEFINITE, Idempotency_Key=key).status_code == 200, key
    for key in ("", " ", "a b", "x" * 256, "é", "a\tb", "\x7f"):
        response = caller.validate(DEFINITE, Idempotency_Key=key)
        assert refusal(response) == (400, "invalid_field", "Idempotency-Key"), key
    # Only the first of several errors is reported.
    response = caller.send(b'{"email": "a@b.co", "x": 1}', Idempotency_Key="a b")
    assert refusal(response) == (400, "invalid_field", "Idempotency-Key")


def test_second_of_two_concurrent_calls_is_a_replay(caller: ApiClient, account: Account) -> None:
    """The replay is stored while the checks of the second request run."""
    first = caller.validate(DEFINITE, Idempotency_Key="order-1").content
    second_caller = Caller(account, None, "req_second")
    second = validate(caller=second_caller, email=DEFINITE, idempotency_key="order-1")
    assert (second.body, second.replayed, second.cost) == (first, True, 0)
    assert get_balance(account) == 99
    with pytest.raises(ApiError, match="idempotency_key_reused"):
        validate(caller=second_caller, email=ANOTHER, idempotency_key="order-1")


def test_unknown_is_replaced_by_the_stored_verdict_of_a_concurrent_request(
    caller: ApiClient, account: Account
) -> None:
    first = caller.validate(DEFINITE, Idempotency_Key="order-1").content
    Replay.objects.update(request_digest=digest("address", UNKNOWN))
    second_caller = Caller(account, None, "req_second")
    second = validate(caller=second_caller, email=UNKNOWN, idempotency_key="order-1")
    assert (second.body, second.replayed) == (first, True)
