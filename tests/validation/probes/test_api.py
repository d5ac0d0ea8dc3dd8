"""POST /v1/validate with `check: "mailbox"`: pending, finished, charged, replayed."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Account, Event, User
from apikeys.models import ApiKey
from credits.models import Hold, Wallet
from credits.services import deduct
from credits.wallet.books import find_discrepancies
from tests.servers.dns import servfail
from tests.support.api_client import ApiClient, error_code, refusal
from tests.validation.probes.conftest import GREYLISTED, MailServers, run_queue
from validation.models import LogEntry, Probe, Replay, StoredResult

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("pending_from_the_start", "mail")]


def check(caller: ApiClient, email: str, *, key: str = "", **body: Any) -> Any:
    fields = {"email": email, "check": "mailbox", "timeout_s": 1, **body}
    headers = {"Idempotency-Key": key} if key else {}
    return caller.send(json.dumps(fields).encode(), **headers)


def read(caller: ApiClient, pending: Any) -> Any:
    return caller.get(f"/v1/validations/{pending.json()['id']}")


def balance(account: Account) -> tuple[int, int]:
    wallet = Wallet.objects.get(account=account)
    return wallet.balance, wallet.held


def test_pending_check_holds_credits_until_the_mail_server_answers(
    caller: ApiClient, account: Account
) -> None:
    pending = check(caller, "jane@shop.com")
    result = pending.json()
    assert (result["verdict"], result["reason"], result["score"]) == (
        "unknown",
        "smtp_timeout",
        None,
    )
    assert result["checks"]["accepts_mail"] is True
    assert (result["smtp"]["state"], result["retry_after_s"]) == ("pending", 5)
    assert result["credits"] == {"charged": 0, "held": 2, "remaining": 98}
    assert pending.headers["X-Credits-Cost"] == "0"
    assert balance(account) == (98, 2)
    assert read(caller, pending).json() == result

    run_queue()
    final = read(caller, pending).json()
    assert (final["verdict"], final["reason"], final["evidence"]) == (
        *("deliverable", "mailbox_accepted"),
        "smtp",
    )
    assert final["safe_to_send"] is True
    assert final["credits"] == {"charged": 2, "held": 0, "remaining": 98}
    assert (final["id"], final["created_at"]) == (result["id"], result["created_at"])
    smtp = final["smtp"]
    assert (smtp["state"], smtp["host"], smtp["code"]) == ("done", "mx.shop.com", 250)
    assert (smtp["control"], smtp["attempts"], smtp["skipped"]) == ("refused", 1, None)
    assert balance(account) == (98, 0)
    entry = LogEntry.objects.get(path="/v1/validate")
    assert (entry.reason, entry.cost, entry.score) == ("mailbox_accepted", 2, final["score"])
    event = Event.objects.get(type="check.completed")
    assert json.loads(event.body)["data"] == {
        "id": result["id"],
        "verdict": "deliverable",
        "reason": "mailbox_accepted",
        "credits": 2,
    }
    assert Probe.objects.get().email == ""
    assert not list(find_discrepancies())


def test_answer_has_its_price(caller: ApiClient, account: Account, mail: MailServers) -> None:
    prices = {
        "unknown@shop.com": ("mailbox_not_found", 2),
        "full@shop.com": ("mailbox_full", 2),
        "jane@catchall.com": ("accept_all", 1),
        "policy@shop.com": ("server_refused_us", 0),
        "edge-blocked@shop.com": ("server_refused_us", 0),
    }
    pending = {email: check(caller, email) for email in prices}
    run_queue()
    for email, (reason, cost) in prices.items():
        final = read(caller, pending[email]).json()
        assert (final["reason"], final["credits"]["charged"]) == (reason, cost), email
    assert balance(account) == (100 - 5, 0)
    assert not Hold.objects.open().exists()
    assert not {"DATA", "VRFY", "EXPN"} & mail.server.verbs.keys()


def test_known_mailbox_is_returned_without_asking(caller: ApiClient, mail: MailServers) -> None:
    for email in ("jane@shop.com", "jane@catchall.com"):
        check(caller, email)
    run_queue()
    conversations = mail.server.verbs["RCPT"]
    again = check(caller, "Jane@shop.com").json()
    assert (again["reason"], again["credits"]["charged"]) == ("mailbox_accepted", 2)
    other = check(caller, "joe@catchall.com").json()
    assert (other["reason"], other["credits"]["charged"]) == ("accept_all", 1)
    assert mail.server.verbs["RCPT"] == conversations
    assert Probe.objects.count() == 2
    assert not list(find_discrepancies())


@pytest.mark.anywhere
def test_server_that_cannot_help_is_not_asked(caller: ApiClient, mail: MailServers) -> None:
    mail.dns.add_mail_domain("yahoo-hosted.com", "mta5.am0.yahoodns.net", "8.8.4.4")
    mail.dns.add_mail_domain("qq.com", "mx1.qq.com", "8.8.4.4")
    mail.dns.set_behavior("failing.com", "MX", servfail)
    remaining = 100
    for email, skipped, cost in (
        ("jane@yahoo-hosted.com", "provider_hides", 1),
        ("jane@qq.com", "provider_hides", 1),
        ("jane@nothing-here.com", "decided", 1),
        ("no address", "decided", 1),
        ("jane@failing.com", "decided", 0),
    ):
        result = check(caller, email).json()
        remaining -= cost
        assert (result["smtp"]["state"], result["smtp"]["skipped"]) == ("skipped", skipped), email
        assert result["credits"] == {"charged": cost, "held": 0, "remaining": remaining}
    assert not Probe.objects.exists()


def test_greylisted_check_says_when_it_continues(caller: ApiClient, account: Account) -> None:
    pending = check(caller, "jane@grey.com")
    run_queue()
    waiting = read(caller, pending).json()
    assert (waiting["verdict"], waiting["reason"]) == ("unknown", "greylisted")
    assert (waiting["smtp"]["state"], waiting["smtp"]["attempts"]) == ("pending", 1)
    assert waiting["retry_after_s"] == 360
    for delay, expected in ((6, 840), (14, 2400)):
        Probe.objects.update(next_attempt_at=timezone.now() - timedelta(minutes=delay))
        run_queue()
        assert read(caller, pending).json()["retry_after_s"] == expected
    Probe.objects.update(next_attempt_at=timezone.now())
    run_queue()
    final = read(caller, pending).json()
    assert (final["reason"], final["smtp"]["state"]) == ("greylisted", "done")
    assert final["credits"] == {"charged": 0, "held": 0, "remaining": 100}
    assert balance(account) == (100, 0)


def test_greylisted_mailbox_is_found_later(caller: ApiClient, mail: MailServers) -> None:
    pending = check(caller, "jane@grey.com")
    run_queue()
    (host,) = [host for host in mail.hosts() if host.other == GREYLISTED]
    host.mailboxes, host.other = {"jane": "250 OK"}, "550 5.1.1 User unknown"
    Probe.objects.update(next_attempt_at=timezone.now())
    run_queue()
    final = read(caller, pending).json()
    assert (final["reason"], final["smtp"]["attempts"]) == ("mailbox_accepted", 2)
    assert final["credits"]["charged"] == 2


def test_idempotency_key_returns_the_current_state_and_then_the_final_body(
    caller: ApiClient, account: Account
) -> None:
    first = check(caller, "jane@shop.com", key="k")
    again = check(caller, "jane@shop.com", key="k")
    assert again.json()["id"] == first.json()["id"]
    assert again.json()["smtp"]["state"] == "pending"
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.headers["X-Credits-Cost"] == "0"
    assert Probe.objects.count() == 1
    assert error_code(check(caller, "joe@shop.com", key="k")) == "idempotency_key_reused"
    dns_only = caller.validate("jane@shop.com", **{"Idempotency-Key": "k"})
    assert error_code(dns_only) == "idempotency_key_reused"
    run_queue()
    bodies = {check(caller, "jane@shop.com", key="k").content for _ in range(2)}
    assert len(bodies) == 1
    final = json.loads(bodies.pop())
    assert final["credits"] == {"charged": 2, "held": 0, "remaining": 98}
    assert balance(account) == (98, 0)


def test_key_of_an_unknown_result_is_free_again(caller: ApiClient) -> None:
    first = check(caller, "policy@shop.com", key="k")
    run_queue()
    assert not Replay.objects.exists()
    second = check(caller, "policy@shop.com", key="k")
    assert second.json()["id"] != first.json()["id"]


def test_account_that_stores_nothing_gets_no_pending_result(
    caller: ApiClient, account: Account, mail: MailServers
) -> None:
    Account.objects.update(log_days=0)
    result = check(caller, "jane@shop.com").json()
    assert (result["verdict"], result["reason"]) == ("unknown", "smtp_timeout")
    assert result["smtp"]["state"] == "done"
    assert result["credits"] == {"charged": 0, "held": 0, "remaining": 100}
    run_queue()
    assert balance(account) == (100, 0)
    assert not StoredResult.objects.exists()
    assert mail.server.verbs["RCPT"] == 0


@pytest.mark.parametrize("ends_by", ["deduction", "closing"])
def test_check_without_its_credits_ends_as_unknown_and_says_nothing_of_the_answer(
    caller: ApiClient, account: Account, staff: User, ends_by: str
) -> None:
    emails = ("jane@shop.com", "unknown@shop.com", "full@shop.com", "jane@catchall.com")
    pending = [check(caller, email, key=email) for email in emails]
    if ends_by == "deduction":
        deduct(account=account, amount=100, reason="Correction", actor=staff)
    else:
        Account.objects.update(closed_at=timezone.now())
    run_queue()
    Account.objects.update(closed_at=None)
    answered = ("accept_all", "mailbox_exists", "mailbox_full", "mailbox_disabled")
    for each in pending:
        final = read(caller, each).json()
        assert (final["verdict"], final["reason"]) == ("unknown", "check_failed")
        assert {final["checks"][name] for name in answered} == {None}
        assert (final["smtp"]["state"], final["smtp"]["message"]) == ("done", None)
        assert (final["credits"]["charged"], final["safe_to_send"]) == (0, None)
    assert balance(account) == (0 if ends_by == "deduction" else 100, 0)
    assert not Replay.objects.exists()
    assert not Hold.objects.open().exists()
    assert not list(find_discrepancies())


def test_check_needs_two_credits(caller: ApiClient) -> None:
    Wallet.objects.update(balance=1)
    refused = check(caller, "jane@shop.com")
    assert error_code(refused) == "insufficient_credits"
    assert refused.json()["error"]["details"]["required"] == 2


def test_held_credits_count_toward_the_limit_of_their_key(caller: ApiClient) -> None:
    ApiKey.objects.update(credits_per_month=3)
    check(caller, "jane@catchall.com")
    refused = check(caller, "jane@shop.com")
    assert (refused.status_code, error_code(refused)) == (402, "key_credit_limit_reached")
    run_queue()
    # The answer cost 1, and the other credit was released.
    assert check(caller, "jane@shop.com").json()["credits"]["held"] == 2
    assert not list(find_discrepancies())


@pytest.mark.anywhere
def test_wrong_field_is_named(caller: ApiClient) -> None:
    timeouts: tuple[Any, ...] = (0, 31, 2.5, True)
    for body, code, param in (
        *(({"check": check}, "invalid_field", "check") for check in ("smtp", None)),
        *(({"timeout_s": seconds}, "invalid_field", "timeout_s") for seconds in timeouts),
        ({"check": "dns", "timeout_s": 3}, "invalid_field", "timeout_s"),
        ({"tiemout_s": 3}, "unknown_field", "tiemout_s"),
    ):
        refused = check(caller, "jane@shop.com", **body)
        assert refusal(refused) == (400, code, param), body


def test_check_is_refused_if_mailbox_checks_are_off(caller: ApiClient, settings: Settings) -> None:
    settings.PROBE_MAILBOX_CHECKS = False
    refused = check(caller, "jane@sandbox.test")
    assert (refused.status_code, error_code(refused)) == (400, "mailbox_checks_unavailable")
    assert check(caller, "jane@sandbox.test", check="dns", timeout_s=None).status_code == 400
    assert error_code(check(caller, "jane@sandbox.test", tiemout_s=3)) == "unknown_field"
    body = json.dumps({"email": "risky@sandbox.test", "check": "dns"}).encode()
    assert caller.send(body).status_code == 200


@pytest.mark.anywhere
def test_sandbox_simulates_the_conversation(caller: ApiClient) -> None:
    for word, state, code in (
        ("mailbox_not_found", "done", 550),
        ("mailbox_full", "done", 552),
        ("deliverable", "done", 250),
        ("smtp_timeout", "done", None),
        ("null_mx", "skipped", None),
    ):
        result = check(caller, f"{word}@sandbox.test").json()
        assert (result["smtp"]["state"], result["smtp"]["code"]) == (state, code), word
        assert result["credits"] == {"charged": 0, "held": 0, "remaining": 100}
        assert caller.validate(f"{word}@sandbox.test").json()["smtp"] is None
