"""How long checks, their results and their keys are kept, and where they are counted and shown."""

import json
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from accounts.models import Account, Event, User
from accounts.retention import erase_account
from accounts.services import change_log_days
from credits.models import Hold, Pack, Subscription, UseHour, Wallet
from credits.models.catalog import FREE
from credits.wallet.books import find_discrepancies
from engine import PENDING_SECONDS
from tests.conftest import signed_in
from tests.credits.customers import pay, place_order
from tests.support.api_client import ApiClient, error_code
from tests.support.metrics import Increases
from tests.validation.probes.conftest import run_queue
from tests.validation.probes.test_api import balance, check, read
from validation.erasure import erase_address
from validation.models import (
    AcceptAllDomain,
    KnownMailbox,
    LogEntry,
    MailboxCheckDay,
    Probe,
    Replay,
    StoredResult,
)
from validation.probes.data import delete_old_probes
from validation.request_log.retention import delete_old_replays, delete_old_results

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("pending_from_the_start", "mail")]
EMAIL = "jane@shop.com"


def run_daily() -> None:
    delete_old_replays()
    delete_old_results()
    delete_old_probes()


def test_result_and_key_are_kept_for_24_hours_from_the_end_of_the_check(caller: ApiClient) -> None:
    started = timezone.now()
    pending = check(caller, EMAIL, key="k")
    with time_machine.travel(started + timedelta(minutes=110)):
        run_daily()
        assert check(caller, EMAIL, key="k").json()["id"] == pending.json()["id"]
        run_queue()
        final = check(caller, EMAIL, key="k").content
    with time_machine.travel(started + timedelta(hours=25, minutes=40)):
        run_daily()
        assert read(caller, pending).json()["reason"] == "mailbox_accepted"
        assert check(caller, EMAIL, key="k").content == final
        assert Probe.objects.exists()
    with time_machine.travel(started + timedelta(hours=25, minutes=51)):
        assert error_code(read(caller, pending)) == "not_found"
        assert check(caller, EMAIL, key="k").json()["id"] != pending.json()["id"]
    with time_machine.travel(started + timedelta(hours=26, minutes=51)):
        run_daily()
        assert not Probe.objects.exclude(done_at=None).exists()
        assert not KnownMailbox.objects.exists()


def test_key_of_a_check_postponed_for_more_than_an_hour_starts_no_other(caller: ApiClient) -> None:
    started, pending = timezone.now(), check(caller, "jane@grey.com", key="k")
    for minutes in (0, 30, 70):
        with time_machine.travel(started + timedelta(minutes=minutes)):
            Probe.objects.update(next_attempt_at=timezone.now())
            run_queue()
            again = check(caller, "jane@grey.com", key="k").json()
            assert (again["id"], again["smtp"]["state"]) == (pending.json()["id"], "pending")
            assert again["credits"] == {"charged": 0, "held": 2, "remaining": 98}
    assert Probe.objects.count() == 1


def test_pending_result_says_when_the_next_attempt_is(caller: ApiClient) -> None:
    pending = check(caller, "jane@grey.com", key="k")
    assert pending.json()["retry_after_s"] == PENDING_SECONDS[0]
    run_queue()
    with time_machine.travel(timezone.now() + timedelta(seconds=100), tick=False):
        for response in (read(caller, pending), check(caller, "jane@grey.com", key="k")):
            assert response.json()["retry_after_s"] == 260
    with time_machine.travel(timezone.now() + timedelta(minutes=7)):
        assert read(caller, pending).json()["retry_after_s"] == PENDING_SECONDS[0]


@pytest.mark.parametrize("repeats", [True, False])
def test_end_is_an_event_if_any_response_was_pending(caller: ApiClient, repeats: bool) -> None:
    check(caller, EMAIL, key="k")
    # As if the first response had been lost in a crash.
    Probe.objects.update(is_announced=False)
    if repeats:
        check(caller, EMAIL, key="k")
    run_queue()
    assert Event.objects.filter(type="check.completed").exists() is repeats


def test_check_is_counted_once_when_it_ends(
    caller: ApiClient, django_capture_on_commit_callbacks: Any
) -> None:
    increases = Increases()
    with django_capture_on_commit_callbacks(execute=True):
        pending = check(caller, EMAIL, key="k")
        check(caller, EMAIL, key="k")
    assert not UseHour.objects.exists()
    assert increases.of("validations_total") == {}
    with django_capture_on_commit_callbacks(execute=True):
        run_queue()
        check(caller, EMAIL, key="k")
        read(caller, pending)
    assert increases.of("validations_total") == {("deliverable", "mailbox_accepted", "api"): 1}
    assert increases.of("credits_charged_total") == {(): 2}
    hour = UseHour.objects.get()
    assert (hour.verdict, hour.calls, hour.credits) == ("deliverable", 1, 2)
    # A mail server's time isn't our latency.
    assert (hour.duration_ms, hour.slower) == (0, 0)
    (day,) = [day for day in caller.get("/v1/usage").json()["days"] if day["requests"]]
    assert (day["requests"], day["credits"], day["deliverable"]) == (1, 2, 1)


def test_request_log_shows_a_pending_check_then_its_result(caller: ApiClient, owner: User) -> None:
    check(caller, EMAIL)
    browser: Client = signed_in(owner)
    entry = LogEntry.objects.get(path="/v1/validate")

    def pages() -> list[str]:
        urls = ("/validation/requests/", entry.get_absolute_url())
        return [browser.get(url).content.decode() for url in urls]

    for page in pages():
        assert "pending</span>" in page
    assert "2 credits held until the mail server answers" in pages()[1]
    assert "answered yet" in pages()[1]
    run_queue()
    for page in pages():
        assert "pending</span>" not in page
        assert "mailbox_accepted" in page
    assert "2 credits" in pages()[1]
    assert "held" not in pages()[1]


def test_erased_address_ends_checks_free(caller: ApiClient, account: Account, owner: User) -> None:
    for email in (EMAIL, "joe@shop.com"):
        pending = check(caller, email, key=email)
        if email == EMAIL:
            run_queue()
            assert KnownMailbox.objects.exists()
    erase_address(email="Joe@shop.com", account=account, actor=owner)
    assert error_code(read(caller, pending)) == "not_found"
    assert Probe.objects.get().reason == "mailbox_accepted"
    assert balance(account) == (98, 0)
    erase_address(email=EMAIL, account=None, actor=owner)
    for model in (Probe, KnownMailbox, Replay, StoredResult):
        assert not model._default_manager.exists(), model
    assert not LogEntry.objects.filter(path="/v1/validate").exists()
    run_queue()
    assert not list(find_discrepancies())


def test_erased_account_leaves_no_check(caller: ApiClient, account: Account) -> None:
    check(caller, EMAIL, key="k")
    Account.objects.update(closed_at=timezone.now() - timedelta(days=31))
    erase_account(account=account)
    for model in (Probe, MailboxCheckDay, Replay, StoredResult, LogEntry):
        assert not model._default_manager.exists(), model
    assert not Hold.objects.open().exists()
    assert not list(find_discrepancies())


def test_old_facts_about_mailboxes_are_deleted_daily(caller: ApiClient) -> None:
    for email in (EMAIL, "jane@catchall.com"):
        check(caller, email)
    run_queue()
    run_daily()
    assert (KnownMailbox.objects.count(), AcceptAllDomain.objects.count()) == (1, 2)
    assert (Probe.objects.count(), MailboxCheckDay.objects.count()) == (2, 1)
    with time_machine.travel(timezone.now() + timedelta(days=31)):
        run_daily()
    for model in (KnownMailbox, AcceptAllDomain, Probe, MailboxCheckDay):
        assert not model._default_manager.exists(), model


def test_account_that_stores_nothing_replays_a_definite_result(
    caller: ApiClient, account: Account, owner: User
) -> None:
    check(caller, EMAIL)
    run_queue()
    change_log_days(account=account, days=0, actor=owner)
    # It's known, so no mail server is asked.
    first = check(caller, EMAIL, key="k")
    assert first.json()["credits"] == {"charged": 2, "held": 0, "remaining": 96}
    assert check(caller, EMAIL, key="k").content == first.content
    unknown = check(caller, "policy@shop.com", key="other")
    assert (unknown.json()["reason"], unknown.json()["smtp"]["state"]) == ("smtp_timeout", "done")
    assert Replay.objects.count() == 1
    assert not StoredResult.objects.filter(pk=unknown.json()["id"]).exists()
    assert balance(account) == (96, 0)


def test_unreadable_result_is_free(caller: ApiClient, account: Account, owner: User) -> None:
    result = check(caller, EMAIL).json()
    assert result["smtp"]["state"] == "pending"
    change_log_days(account=account, days=0, actor=owner)
    run_queue()
    assert Probe.objects.get().reason == "check_failed"
    assert balance(account) == (100, 0)


def test_daily_limit_is_of_free_accounts_and_a_day(caller: ApiClient, account: Account) -> None:
    MailboxCheckDay.objects.create(account=account, day=timezone.now().date(), number=20)
    refused = check(caller, "no address")
    assert (refused.status_code, error_code(refused)) == (402, "plan_limit_reached")
    details = refused.json()["error"]["details"]
    assert (details["limit"], details["upgrade_url"][:4]) == (20, "http")
    assert details["resets_at"] == f"{timezone.now() + timedelta(days=1):%Y-%m-%d}T00:00:00Z"
    assert caller.validate("no address").status_code == 200
    # Neither the refusal nor the sandbox counts.
    assert check(caller, "mailbox_full@sandbox.test").status_code == 200
    assert MailboxCheckDay.objects.get().number == 20
    with time_machine.travel(timezone.now() + timedelta(days=1)):
        assert check(caller, "no address").status_code == 200
    assert Subscription.objects.get(account=account).plan.code == FREE
    pay(place_order(account, Pack.objects.get(credits=1_000)))
    assert check(caller, "no address").status_code == 200


def test_playground_checks_have_no_key(
    account: Account, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("validation.playground.DEFAULT_TIMEOUT_SECONDS", 1)
    page = signed_in(owner).post("/validation/playground/", {"email": EMAIL, "mailbox": "on"})
    assert page.status_code == 200
    assert "held" in page.content.decode()
    run_queue()
    hour = UseHour.objects.get()
    assert (hour.key, hour.credits) == (None, 2)
    assert LogEntry.objects.get().cost == 2
    assert Wallet.objects.get(account=account).held == 0
    assert json.loads(Event.objects.get(type="check.completed").body)["data"]["credits"] == 2
