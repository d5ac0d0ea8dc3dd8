"""Sent again, a request is answered as it was the first time."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import Account, User
from apikeys import services
from apikeys.errors import ApiError
from apikeys.services import create_key
from credits.wallet.charges import balance_of
from tests.support.api_client import ApiClient, code_of
from validation.models import Replay
from validation.request_log.retention import delete_old_replays
from validation.request_log.writer import Caller
from validation.services import validate

pytestmark = pytest.mark.django_db

DEFINITE, ANOTHER, UNKNOWN = "no address", "no address either", "jane@ordinary-shop.com"


def test_the_same_key_and_address_get_the_first_answer_byte_for_byte(caller: ApiClient) -> None:
    first = caller.validate(DEFINITE, Idempotency_Key="order-1")
    again = caller.validate(DEFINITE, Idempotency_Key="order-1")
    assert again.status_code == 200
    assert again.content == first.content
    assert again.headers["Idempotent-Replayed"] == "true"
    assert "Idempotent-Replayed" not in first.headers
    assert again.headers["X-RateLimit-Remaining"] == "58"
    assert again.headers["X-Request-Id"] != first.headers["X-Request-Id"]


def test_without_a_key_nothing_is_kept(caller: ApiClient) -> None:
    assert caller.validate(DEFINITE).content != caller.validate(DEFINITE).content
    assert not Replay.objects.exists()


def test_the_same_key_with_another_address_is_422(caller: ApiClient) -> None:
    caller.validate(DEFINITE, Idempotency_Key="order-1")
    answer = caller.validate(ANOTHER, Idempotency_Key="order-1")
    assert (answer.status_code, code_of(answer)) == (422, "idempotency_key_reused")
    assert caller.validate(ANOTHER, Idempotency_Key="order-2").status_code == 200


def test_after_an_unknown_the_checks_run_afresh(caller: ApiClient) -> None:
    first = caller.validate(UNKNOWN, Idempotency_Key="order-1")
    assert first.json()["verdict"] == "unknown"
    assert caller.validate(UNKNOWN, Idempotency_Key="order-1").content != first.content
    assert caller.validate(DEFINITE, Idempotency_Key="order-1").status_code == 200


def test_after_an_error_the_request_runs_afresh(caller: ApiClient) -> None:
    refused = caller.validate("internal_error@sandbox.test", Idempotency_Key="order-1")
    assert refused.status_code == 500
    answer = caller.validate(DEFINITE, Idempotency_Key="order-1")
    assert "Idempotent-Replayed" not in answer.headers


def test_an_unknown_of_the_sandbox_is_kept(caller: ApiClient) -> None:
    first = caller.validate("unknown@sandbox.test", Idempotency_Key="order-1")
    again = caller.validate("unknown@sandbox.test", Idempotency_Key="order-1")
    assert again.content == first.content


def test_another_accounts_key_is_another_key(caller: ApiClient, stranger: User) -> None:
    account = Account.objects.get(memberships__user=stranger)
    _, secret = create_key(account=account, name="Theirs", actor=stranger)
    caller.validate(DEFINITE, Idempotency_Key="order-1")
    answer = ApiClient(secret).validate(ANOTHER, Idempotency_Key="order-1")
    assert answer.status_code == 200
    assert "Idempotent-Replayed" not in answer.headers


def test_the_keys_of_an_account_share_the_memory(
    caller: ApiClient, account: Account, owner: User
) -> None:
    _, other = services.create_key(account=account, name="Other", actor=owner)
    first = caller.validate(DEFINITE, Idempotency_Key="order-1")
    assert ApiClient(other).validate(DEFINITE, Idempotency_Key="order-1").content == first.content


def test_after_24_hours_the_key_is_free_again(caller: ApiClient) -> None:
    first = caller.validate(DEFINITE, Idempotency_Key="order-1")
    Replay.objects.update(created_at=timezone.now() - timedelta(hours=24))
    later = caller.validate(ANOTHER, Idempotency_Key="order-1")
    assert later.content != first.content
    assert "Idempotent-Replayed" not in later.headers
    assert Replay.objects.count() == 1


def test_the_days_work_deletes_what_is_older(caller: ApiClient) -> None:
    caller.validate(DEFINITE, Idempotency_Key="old")
    Replay.objects.update(created_at=timezone.now() - timedelta(hours=25))
    caller.validate(DEFINITE, Idempotency_Key="new")
    delete_old_replays()
    assert Replay.objects.count() == 1


@pytest.mark.parametrize("key", ["!", "~", "x" * 255, "3b1f-uuid", 'a,b;c="d"'])
def test_any_visible_ascii_is_a_key(caller: ApiClient, key: str) -> None:
    assert caller.validate(DEFINITE, Idempotency_Key=key).status_code == 200


@pytest.mark.parametrize("key", ["", " ", "a b", "x" * 256, "é", "a\tb", "\x7f"])
def test_anything_else_is_refused_and_named(caller: ApiClient, key: str) -> None:
    answer = caller.validate(DEFINITE, Idempotency_Key=key)
    assert (answer.status_code, code_of(answer)) == (400, "invalid_field")
    assert answer.json()["error"]["param"] == "Idempotency-Key"


def test_who_comes_second_at_the_same_moment_gets_the_row_that_was_first(
    caller: ApiClient, account: Account
) -> None:
    """As if its row had gone in while the second one's checks ran."""
    first = caller.validate(DEFINITE).content
    Replay.objects.keep(account, "order-1", DEFINITE, first)
    asker = Caller(account, None, "req_second")
    second = validate(asker=asker, email=DEFINITE, idempotency_key="order-1")
    assert (second.body, second.replayed, second.cost) == (first, True, 0)
    assert balance_of(account) == 99
    with pytest.raises(ApiError, match="idempotency_key_reused"):
        validate(asker=asker, email=ANOTHER, idempotency_key="order-1")


def test_neither_the_clients_key_nor_the_address_stands_in_a_column_of_its_own(
    caller: ApiClient,
) -> None:
    caller.validate(DEFINITE, Idempotency_Key="svc_live_mistaken_for_it")
    replay = Replay.objects.get()
    assert "svc_live" not in f"{replay.key_digest} {replay.email_digest} {replay.body}"


@pytest.mark.parametrize("email", ['\0\u2028😀\\"', "\u202e", "a\u0000b"])
def test_odd_characters_survive_in_the_kept_answer(caller: ApiClient, email: str) -> None:
    first = caller.validate(email, Idempotency_Key="odd")
    again = caller.validate(email, Idempotency_Key="odd")
    assert again.content == first.content
    assert again.json()["email"] == email


def test_what_could_not_tell_gives_way_to_one_at_the_same_moment_that_could(
    caller: ApiClient, account: Account
) -> None:
    first = caller.validate(DEFINITE).content
    Replay.objects.keep(account, "order-1", UNKNOWN, first)
    asker = Caller(account, None, "req_second")
    second = validate(asker=asker, email=UNKNOWN, idempotency_key="order-1")
    assert (second.body, second.replayed) == (first, True)
