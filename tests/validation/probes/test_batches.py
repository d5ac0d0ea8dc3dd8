"""POST /v1/validate/batch with `check: "mailbox"`."""

from typing import Any

import pytest
from pytest_django import Settings

from accounts.models import Account
from credits.models import Hold, Wallet
from credits.wallet.books import find_discrepancies
from tests.support.api_client import ApiClient, error_code
from tests.validation.probes.conftest import run_queue
from validation.models import LogEntry, MailboxCheckDay, Probe

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("pending_from_the_start", "mail")]

EMAILS = ["jane@shop.com", "no address", "unknown@shop.com", "jane@shop.com", "risky@sandbox.test"]


def send(caller: ApiClient, emails: list[str] = EMAILS, *, key: str = "", **fields: object) -> Any:
    body = {"emails": emails, "check": "mailbox", "timeout_s": 1, **fields}
    headers = {"Idempotency-Key": key} if key else {}
    return caller.send_json("POST", "/v1/validate/batch", body, **headers)


def test_what_is_known_is_charged_and_the_rest_pends(caller: ApiClient, account: Account) -> None:
    batch = send(caller).json()
    results = batch["results"]
    assert [result["reason"] for result in results] == [
        *("smtp_timeout", "invalid_syntax", "smtp_timeout", "smtp_timeout", "accept_all")
    ]
    assert [result["smtp"]["state"] for result in results] == [
        *("pending", "skipped", "pending", "pending", "done")
    ]
    assert batch["credits"] == {"charged": 1, "held": 4, "remaining": 95}
    assert [result["credits"]["held"] for result in results] == [2, 0, 2, 0, 0]
    assert results[3]["duplicate_of"] == 0
    assert results[3]["id"] == results[0]["id"]
    assert batch["summary"]["unknown"] == 2
    run_queue()
    final = [caller.get(f"/v1/validations/{result['id']}").json() for result in results]
    assert [result["reason"] for result in final] == [
        *("mailbox_accepted", "invalid_syntax", "mailbox_not_found", "mailbox_accepted"),
        "accept_all",
    ]
    wallet = Wallet.objects.get(account=account)
    assert (wallet.balance, wallet.held) == (95, 0)
    assert not Hold.objects.open().exists()
    entries = LogEntry.objects.filter(batch_id=batch["id"])
    assert sorted(entries.values_list("cost", flat=True)) == [0, 1, 2, 2]
    assert not list(find_discrepancies())


def test_replay_shows_what_mail_servers_have_said_since(caller: ApiClient) -> None:
    first = send(caller, key="k")
    again = send(caller, key="k")
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.json()["id"] == first.json()["id"]
    assert again.json()["summary"] == first.json()["summary"]
    assert Probe.objects.count() == 2
    run_queue()
    final = send(caller, key="k").json()
    assert [result["reason"] for result in final["results"]] == [
        *("mailbox_accepted", "invalid_syntax", "mailbox_not_found", "mailbox_accepted"),
        "accept_all",
    ]
    assert final["summary"] == {
        "deliverable": 1,
        "risky": 1,
        "undeliverable": 2,
        "unknown": 0,
        "duplicates": 1,
    }
    assert final["credits"] == {"charged": 5, "held": 0, "remaining": 95}
    other = caller.validate_batch(EMAILS, Idempotency_Key="k")
    assert error_code(other) == "idempotency_key_reused"


def test_batch_needs_two_credits_for_each_distinct_address(caller: ApiClient) -> None:
    Wallet.objects.update(balance=5)
    refused = send(caller)
    assert error_code(refused) == "insufficient_credits"
    assert refused.json()["error"]["details"]["required"] == 6
    assert not Probe.objects.exists()


def test_each_address_counts_toward_the_daily_checks(caller: ApiClient) -> None:
    send(caller)
    assert MailboxCheckDay.objects.get().number == 3
    MailboxCheckDay.objects.update(number=18)
    assert error_code(send(caller)) == "plan_limit_reached"
    assert MailboxCheckDay.objects.get().number == 18


def test_batch_is_refused_if_mailbox_checks_are_off(caller: ApiClient, settings: Settings) -> None:
    settings.PROBE_MAILBOX_CHECKS = False
    assert error_code(send(caller)) == "mailbox_checks_unavailable"
    assert error_code(send(caller, check="dns")) == "invalid_field"
    assert send(caller, [], check="mailbox").json()["error"]["param"] == "emails"
