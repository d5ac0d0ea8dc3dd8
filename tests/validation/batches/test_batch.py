"""POST /v1/validate/batch: results, duplicates, the sandbox, charges and the request log."""

import json

import pytest
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.http import HttpRequest

from accounts.models import Account
from apikeys.models import ApiKey
from apikeys.throttling import limits
from credits import services
from credits.models import UseHour, Wallet
from credits.models.usage import BUCKETS
from credits.wallet.books import find_discrepancies
from runtime.mail.outbox import Mail
from tests.servers.dns import FakeDns
from tests.support.api_client import ApiClient, error_code, refusal
from validation.domain_data import staff_domains
from validation.erasure import count_rows, erase_address
from validation.models import MAX_FREE_BATCH_REPLAYS, LogEntry, Replay

pytestmark = pytest.mark.django_db

WRONG = [f"address {number}" for number in range(3)]


def set_balance(account: Account, balance: int) -> None:
    current = Wallet.objects.get(account=account).balance
    change = balance - current
    act = services.grant if change > 0 else services.deduct
    if change:
        act(account=account, amount=abs(change), reason="Test", actor=None)


def set_limit(account: Account, requests_per_minute: int) -> None:
    Account.objects.filter(pk=account.pk).update(requests_per_minute=requests_per_minute)


def test_repeated_address_repeats_the_first_result_for_free(caller: ApiClient) -> None:
    response = caller.validate_batch([WRONG[0], WRONG[1], WRONG[0]])
    first, other, again = response.json()["results"]
    assert (first["duplicate_of"], other["duplicate_of"], again["duplicate_of"]) == (None, None, 0)
    assert again["id"] == first["id"] != other["id"]
    assert again["credits"] == {"charged": 0, "held": 0, "remaining": 98}
    assert response.headers["X-Credits-Cost"] == "2"
    assert response.json()["summary"]["duplicates"] == 1


def test_definite_verdicts_are_charged_together(caller: ApiClient, account: Account) -> None:
    response = caller.validate_batch([*WRONG, "jane@ordinary-shop.com", "deliverable@sandbox.test"])
    document = response.json()
    assert response.status_code == 200
    assert document["credits"] == {"charged": 3, "held": 0, "remaining": 97}
    assert response.headers["X-Credits-Remaining"] == "97"
    assert [result["credits"]["charged"] for result in document["results"]] == [1, 1, 1, 0, 0]
    assert Wallet.objects.get(account=account).balance == 97
    assert UseHour.objects.filter(account=account).credits() == 3
    assert not list(find_discrepancies())


def test_usage_counts_each_distinct_address_by_verdict(caller: ApiClient, account: Account) -> None:
    caller.validate_batch(
        ["a b", "a b", "jane@localhost", "no address", "deliverable@sandbox.test"]
    )
    (hour,) = UseHour.objects.filter(account=account)
    assert (hour.verdict, hour.calls, hour.credits) == ("undeliverable", 3, 3)
    assert sum(getattr(hour, bucket) for bucket in BUCKETS) == 3
    assert not list(find_discrepancies())


def test_batch_beyond_the_balance_is_refused_at_once(caller: ApiClient, account: Account) -> None:
    set_balance(account, 2)
    response = caller.validate_batch(WRONG)
    assert (response.status_code, error_code(response)) == (402, "insufficient_credits")
    assert response.json()["error"]["details"]["required"] == 3
    assert Wallet.objects.get(account=account).balance == 2
    assert not LogEntry.objects.filter(account=account).exclude(batch_id="").exists()
    assert caller.validate_batch([WRONG[0], WRONG[1], WRONG[0]]).status_code == 200


def test_sandbox_error_fails_only_its_address(caller: ApiClient) -> None:
    response = caller.validate_batch(
        ["insufficient_credits@sandbox.test", "deliverable@sandbox.test"]
    )
    assert response.status_code == 200
    reasons = [result["reason"] for result in response.json()["results"]]
    assert reasons == ["check_failed", "mailbox_accepted"]
    assert response.headers["X-Credits-Cost"] == "0"


@pytest.mark.anywhere
def test_wrong_element_is_named_and_nothing_is_done(caller: ApiClient, account: Account) -> None:
    for emails, param in (
        ("jane@shop.example", "emails"),
        ([], "emails"),
        (["a"] * 101, "emails"),
        (["jane@shop.example", 5], "emails[1]"),
        (["jane@shop.example", ""], "emails[1]"),
        (["a" * 321], "emails[0]"),
        ([None], "emails[0]"),
        (["a", ["b"]], "emails[1]"),
    ):
        assert refusal(caller.validate_batch(emails)) == (400, "invalid_field", param)
    assert Wallet.objects.get(account=account).balance == 100
    assert caller.get("/v1/me").headers["X-RateLimit-Remaining"] == "51"


@pytest.mark.anywhere
def test_only_the_first_of_several_errors_is_reported(caller: ApiClient) -> None:
    document: dict[str, object] = {"x": 1, "check": 1}
    response = caller.send_json("POST", "/v1/validate/batch", document)
    assert refusal(response) == (400, "missing_field", "emails")
    response = caller.send_json("POST", "/v1/validate/batch", {**document, "emails": ["a"]})
    assert refusal(response) == (400, "invalid_field", "check")


def test_too_many_addresses_are_refused_with_the_maximum(caller: ApiClient) -> None:
    response = caller.validate_batch(["a"] * 101)
    assert response.json()["error"]["details"] == {"max": 100}


def test_hundred_long_addresses_fit_into_the_body(caller: ApiClient, account: Account) -> None:
    set_limit(account, 200)
    # Each character is escaped as two surrogates of six characters.
    emails = [f"{number:03}" + "\U0001f600" * 317 for number in range(100)]
    response = caller.validate_batch(emails)
    assert response.status_code == 200
    assert len(response.json()["results"]) == 100


@pytest.mark.anywhere
def test_larger_body_is_refused(caller: ApiClient) -> None:
    response = caller.call("POST", "/v1/validate/batch", b" " * (400 * 1024 + 1))
    assert error_code(response) == "request_too_large"
    assert "400 KB" in response.json()["error"]["message"]


def test_batch_that_does_not_fit_consumes_one_request(caller: ApiClient, account: Account) -> None:
    set_limit(account, 5)
    assert caller.validate_batch(WRONG).headers["X-RateLimit-Remaining"] == "2"
    refused = caller.validate_batch(WRONG)
    assert (refused.status_code, error_code(refused)) == (429, "rate_limit_exceeded")
    assert refused.json()["error"]["details"]["needed"] == 2
    assert refused.headers["X-RateLimit-Remaining"] == "1"
    assert int(refused.headers["Retry-After"]) >= 1
    assert caller.get("/v1/me").status_code == 200
    assert caller.get("/v1/me").status_code == 429


def test_key_and_account_are_consumed_together_or_not_at_all(
    caller: ApiClient, account: Account, key: ApiKey
) -> None:
    ApiKey.objects.filter(pk=key.pk).update(requests_per_minute=4)
    assert caller.validate_batch(WRONG).headers["X-RateLimit-Limit"] == "4"
    refused = caller.validate_batch(WRONG[:2])
    assert refused.status_code == 429
    account.refresh_from_db()
    state = limits.peek(HttpRequest(), limits.account_bucket(account))
    assert state.remaining == 60 - 3 - 1


def test_batch_larger_than_the_limit_can_never_fit(caller: ApiClient, account: Account) -> None:
    set_limit(account, 2)
    response = caller.validate_batch(WRONG)
    assert (response.status_code, error_code(response)) == (400, "batch_larger_than_limit")
    assert response.json()["error"]["details"] == {"limit": 2}
    assert response.headers["X-RateLimit-Remaining"] == "1"


def test_repeated_batch_gets_the_very_first_response(caller: ApiClient, account: Account) -> None:
    emails = [*WRONG, "jane@ordinary-shop.com"]
    first = caller.validate_batch(emails, Idempotency_Key="import-1")
    again = caller.validate_batch(emails, Idempotency_Key="import-1")
    assert again.content == first.content
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.headers["X-Credits-Cost"] == "0"
    assert Wallet.objects.get(account=account).balance == 97
    batch_id = first.json()["id"]
    replayed = LogEntry.objects.filter(batch_id=batch_id, replayed=True)
    assert replayed.count() == 4
    set_balance(account, 0)
    assert caller.validate_batch(emails, Idempotency_Key="import-1").content == first.content


def test_same_key_with_other_addresses_is_422(caller: ApiClient) -> None:
    caller.validate_batch(WRONG, Idempotency_Key="import-1")
    for emails in (WRONG[:2], WRONG[::-1], [*WRONG, WRONG[0]]):
        response = caller.validate_batch(emails, Idempotency_Key="import-1")
        assert (response.status_code, error_code(response)) == (422, "idempotency_key_reused")


def test_key_of_a_batch_does_not_match_a_single_call(caller: ApiClient) -> None:
    caller.validate_batch(WRONG[:1], Idempotency_Key="import-1")
    response = caller.validate(WRONG[0], Idempotency_Key="import-1")
    assert error_code(response) == "idempotency_key_reused"
    text = json.dumps(["x"])
    caller.validate(text, Idempotency_Key="import-2")
    assert (
        error_code(caller.validate_batch(["x"], Idempotency_Key="import-2"))
        == "idempotency_key_reused"
    )


def test_erasing_an_address_deletes_its_rows_and_the_batch_to_replay(
    caller: ApiClient, account: Account
) -> None:
    caller.validate_batch(["jane@localhost", "joe@localhost"], Idempotency_Key="import-1")
    caller.validate_batch(["joe@localhost"], Idempotency_Key="import-2")
    counted = count_rows(email="JANE@localhost", account=account)
    assert (counted.requests, counted.replays) == (1, 1)
    erase_address(email="Jane@localhost", account=account, actor=account.memberships.get().user)
    assert LogEntry.objects.filter(account=account).count() == 2
    assert Replay.objects.count() == 1


def test_charge_of_the_whole_batch_crosses_the_low_balance_threshold_once(
    caller: ApiClient, account: Account
) -> None:
    set_balance(account, 12)
    Mail.objects.all().delete()
    caller.validate_batch(WRONG)
    assert Mail.objects.filter(subject__contains="credits").count() == 1


def test_batches_that_cost_nothing_do_not_pile_up(caller: ApiClient, account: Account) -> None:
    newest = MAX_FREE_BATCH_REPLAYS + 1
    caller.validate_batch(WRONG, Idempotency_Key="paid")
    caller.validate("deliverable@sandbox.test", Idempotency_Key="single")
    for number in range(newest + 1):
        caller.validate_batch(["deliverable@sandbox.test"], Idempotency_Key=f"free-{number}")
    assert Replay.objects.filter(account=account, is_free=True).count() == newest
    for key, is_stored in ((f"free-{newest}", True), ("free-0", False)):
        again = caller.validate_batch(["deliverable@sandbox.test"], Idempotency_Key=key)
        assert ("Idempotent-Replayed" in again.headers) is is_stored
    assert "Idempotent-Replayed" in caller.validate_batch(WRONG, Idempotency_Key="paid").headers


def test_threads_of_a_batch_leave_no_connection_open(caller: ApiClient, fake_dns: FakeDns) -> None:
    opened: list[BaseDatabaseWrapper] = []

    def remember(connection: BaseDatabaseWrapper, **kwargs: object) -> None:
        opened.append(connection)

    fake_dns.add_mail_domain("shop.com")
    staff_domains.invalidate()
    connection_created.connect(remember)
    try:
        assert caller.validate_batch(["jane@shop.com", "jane@nowhere.com"]).status_code == 200
    finally:
        connection_created.disconnect(remember)
    assert opened
    assert [connection.connection for connection in opened] == [None] * len(opened)
