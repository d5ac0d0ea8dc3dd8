"""Lists whose mail servers are asked: domains first, then mailboxes."""

import json
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone
from pytest_django import Settings

from accounts.engine import get_engine
from accounts.models import Account
from credits.models import Plan, Subscription
from credits.services import deduct, grant
from credits.wallet.books import find_discrepancies
from lists.deletion.erasure import erase_from_list
from lists.lifecycle import Start, cancel_list, finish_list, pause_list, resume_list, start_list
from lists.models import AddressList
from lists.models.states import ListState
from lists.processing.running import work_once
from lists.results.downloads import Download, DownloadFormat, stream_download
from lists.results.reading import ResultFilter
from tests.lists.factory import make_list
from tests.lists.runs import counts, fresh, results_of, usage, wallet
from tests.servers.dns import servfail
from tests.servers.smtp_server import ACCEPTED, SmtpHost
from tests.support.api_client import ApiClient, error_code
from tests.validation.probes.conftest import MailServers, fake_dns, mail, patient_dns, run_queue
from validation.models import MailHostPace, Probe, UnprobedDomain
from validation.probes import assessment, data

__all__ = ["fake_dns", "mail", "patient_dns"]

pytestmark = pytest.mark.django_db

EMAILS = [
    *("jane@shop.com", "unknown@shop.com", "full@shop.com", "policy@shop.com"),
    *("a@catchall.com", "b@catchall.com", "no address@", "jane@nowhere.com"),
    *("jane@yahoo.com", "deliverable@sandbox.test"),
]
BALANCE = 1_000


@pytest.fixture
def shop(account: Account, mail: MailServers) -> Account:
    """A customer with a paid plan and 1,000 credits."""
    mail.dns.add_mail_domain("yahoo.com", "mta5.am0.yahoodns.net")
    grant(account=account, amount=BALANCE - 100, reason="Lists", actor=None)
    Subscription.objects.filter(account=account).update(plan=Plan.objects.get(code="starter"))
    return account


def start(account: Account, emails: list[str] = EMAILS, **fields: Any) -> AddressList:
    sandbox = sum(email.endswith("@sandbox.test") for email in emails)
    address_list = make_list(account, emails, sandbox_addresses=sandbox, **fields)
    return start_list(address_list=address_list, start=Start(checks_mailboxes=True), actor=None)


def work() -> None:
    AddressList.objects.update(collect_at=None)
    while work_once():
        assert list(find_discrepancies()) == []


def run(address_list: AddressList) -> AddressList:
    """Let list and probe processes take turns until nothing is left to do now."""
    for _ in range(4):
        work()
        run_queue()
    work()
    return fresh(address_list)


def names(domain: str, number: int) -> list[str]:
    return [f"name{index}@{domain}" for index in range(number)]


def test_each_address_has_the_result_of_a_single_call(shop: Account, caller: ApiClient) -> None:
    body = {"emails": EMAILS, "check": "mailbox", "start": True}
    created = caller.send_json("POST", "/v1/lists", body)
    assert (created.status_code, created.json()["check"]) == (201, "mailbox")
    address_list = run(AddressList.objects.get())
    assert address_list.state == ListState.COMPLETED
    assert results_of(address_list) == {
        "jane@shop.com": "mailbox_accepted",
        "unknown@shop.com": "mailbox_not_found",
        "full@shop.com": "mailbox_full",
        "policy@shop.com": "server_refused_us",
        "a@catchall.com": "accept_all",
        "b@catchall.com": "accept_all",
        "no address@": "invalid_syntax",
        "jane@nowhere.com": "domain_not_found",
        "jane@yahoo.com": "domain_accepts_mail",
        "deliverable@sandbox.test": "mailbox_accepted",
    }
    assert counts(address_list) == (3, 3, 3, 1)
    # Three answers cost 2, five results 1. What is unknown and the sandbox are free.
    assert wallet(shop) == (BALANCE - 11, 0)
    assert usage()[address_list.key_id, "unknown"] == (1, 0)
    document = caller.get(f"/v1/lists/{address_list.public_id}").json()
    progress = document["progress"]
    assert (progress["mailboxes_total"], progress["mailboxes_checked"]) == (6, 6)
    assert (progress["percent"], document["safe_to_send"]) == (100, 2)
    assert document["credits"] == {"at_most": 18, "held": 0, "charged": 11}
    # Answers stay for a day, encrypted addresses don't.
    assert not Probe.objects.exclude(email="", answer="", chunk_id=None).exists()
    assert list(find_discrepancies()) == []


def test_price_is_held_twice_until_the_rows_have_their_results(shop: Account) -> None:
    address_list = start(shop)
    assert address_list.price == 2 * 9
    assert wallet(shop) == (BALANCE - 18, 18)
    work()
    # The five that need no mail server are charged and shown.
    found = fresh(address_list)
    assert (found.state, found.checked, found.mailboxes) == (ListState.RUNNING, 4, 6)
    assert found.is_checking_mailboxes
    assert found.percent_checked == 10 + 9 * 40 // 10
    assert wallet(shop) == (BALANCE - 18, 15)
    assert found.seconds_left is not None and 0 < found.seconds_left <= 4
    everything = Download(format=DownloadFormat.JSON_LINES, wanted=ResultFilter.ALL)
    lines = b"".join(stream_download(found, everything)).splitlines()
    results = [json.loads(line)["result"] for line in lines]
    assert [result and result["reason"] for result in results] == [
        *(None, None, None, None, None, None, "invalid_syntax", "domain_not_found"),
        *("domain_accepts_mail", "mailbox_accepted"),
    ]


@pytest.mark.anywhere
def test_accept_all_domain_is_asked_once(shop: Account, mail: MailServers) -> None:
    run(start(shop, names("catchall.com", 30)))
    # At most two conversations at once, each about a name and the control name.
    assert mail.server.verbs["RCPT"] <= 4


def test_known_mailboxes_are_not_asked_again(shop: Account, mail: MailServers) -> None:
    run(start(shop, ["jane@shop.com"]))
    asked = mail.server.verbs["RCPT"]
    address_list = run(start(shop, ["jane@shop.com"]))
    assert results_of(address_list) == {"jane@shop.com": "mailbox_accepted"}
    assert mail.server.verbs["RCPT"] == asked
    assert wallet(shop) == (BALANCE - 4, 0)


@pytest.mark.anywhere
def test_list_that_looks_for_names_is_stopped(
    shop: Account, mail: MailServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assessment, "HARVEST_NAMES", 4)
    emails = [f"unknown{number}@guessed.com" for number in range(12)]
    mail.add_host("guessed.com", SmtpHost(mailboxes={"postmaster": ACCEPTED}))
    address_list = run(start(shop, emails, chunk_rows=100))
    reasons = [*results_of(address_list).values()]
    # Two conversations run at once when the limit is passed.
    assert 4 < reasons.count("mailbox_not_found") < 9
    assert reasons.count("server_refused_us") == 12 - reasons.count("mailbox_not_found")


@pytest.mark.anywhere
def test_domain_that_opts_out_meanwhile_is_not_asked(shop: Account, mail: MailServers) -> None:
    address_list = start(shop, ["jane@shop.com"])
    work()
    UnprobedDomain.objects.create(domain="shop.com")
    assert results_of(run(address_list)) == {"jane@shop.com": "server_refused_us"}
    assert mail.server.verbs["RCPT"] == 0
    assert wallet(shop) == (BALANCE, 0)


@pytest.mark.anywhere
def test_hosts_that_refuse_us_for_long_do_not_delay_the_list(shop: Account) -> None:
    address_list = start(shop, ["jane@shop.com", "jane@catchall.com"])
    work()
    MailHostPace.objects.filter(organization="shop.com").update(is_off=True)
    assert results_of(run(address_list)) == {
        "jane@shop.com": "server_refused_us",
        "jane@catchall.com": "accept_all",
    }


@pytest.mark.anywhere
def test_phase_ends_after_three_days(shop: Account, settings: Settings) -> None:
    settings.PROBE_LIST_HOURS = 72
    address_list = start(shop, [*names("grey.com", 3), "jane@shop.com"])
    run(address_list)
    found = fresh(address_list)
    assert (found.state, found.checked) == (ListState.RUNNING, 1)
    with time_machine.travel(timezone.now() + timedelta(hours=73)):
        work()
    assert fresh(address_list).state == ListState.COMPLETED
    assert counts(address_list) == (1, 0, 0, 3)
    assert {*results_of(address_list).values()} == {"mailbox_accepted", "smtp_timeout"}
    assert wallet(shop) == (BALANCE - 2, 0)
    assert not Probe.objects.waiting().exists()


@pytest.mark.anywhere
def test_finishing_keeps_the_answers_so_far(shop: Account) -> None:
    address_list = start(shop, [*names("grey.com", 3), "jane@shop.com"])
    work()
    run_queue()
    # The answer isn't collected yet.
    assert fresh(address_list).checked == 0
    assert finish_list(address_list=address_list, actor=None).state == ListState.RUNNING
    work()
    found = fresh(address_list)
    assert (found.state, counts(found)) == (ListState.COMPLETED, (1, 0, 0, 3))
    assert wallet(shop) == (BALANCE - 2, 0)


@pytest.mark.anywhere
def test_paused_list_asks_nobody(shop: Account, mail: MailServers) -> None:
    address_list = start(shop, ["jane@shop.com"])
    work()
    pause_list(address_list=address_list, actor=None)
    MailHostPace.objects.update(is_idle=False)
    run_queue()
    assert mail.server.verbs["RCPT"] == 0
    resume_list(address_list=address_list, actor=None)
    assert results_of(run(address_list)) == {"jane@shop.com": "mailbox_accepted"}


@pytest.mark.anywhere
def test_list_that_was_paused_beyond_its_time_goes_on_when_resumed(shop: Account) -> None:
    address_list = start(shop, ["jane@shop.com"])
    work()
    pause_list(address_list=address_list, actor=None)
    with time_machine.travel(timezone.now() + timedelta(days=20)):
        work()
        data.delete_old_probes()
        resume_list(address_list=address_list, actor=None)
        assert results_of(run(address_list)) == {"jane@shop.com": "mailbox_accepted"}


@pytest.mark.anywhere
def test_list_ends_even_if_its_processes_were_away_for_days(shop: Account) -> None:
    address_list = start(shop, ["jane@shop.com"])
    work()
    with time_machine.travel(timezone.now() + timedelta(days=6)):
        data.delete_old_probes()
        work()
    assert results_of(address_list) == {"jane@shop.com": "smtp_timeout"}
    assert fresh(address_list).state == ListState.COMPLETED


def test_checks_of_a_list_canceled_while_paused_are_deleted(shop: Account) -> None:
    address_list = start(shop, ["jane@shop.com"])
    work()
    pause_list(address_list=address_list, actor=None)
    cancel_list(address_list=address_list, actor=None)
    work()
    assert not Probe.objects.exists()


def test_canceled_list_costs_what_it_has(shop: Account, mail: MailServers) -> None:
    address_list = start(shop)
    work()
    cancel_list(address_list=address_list, actor=None)
    assert wallet(shop) == (BALANCE - 3, 0)
    run_queue()
    work()
    assert mail.server.verbs["RCPT"] == 0
    assert not Probe.objects.exists()
    assert counts(address_list) == (2, 0, 2, 0)


def test_deducted_credits_pause_the_list_until_it_is_resumed(shop: Account) -> None:
    address_list = start(shop, ["jane@shop.com", "jane@catchall.com"])
    work()
    run_queue()
    deduct(account=shop, amount=BALANCE, reason="Refund", actor=None)
    work()
    assert fresh(address_list).state == ListState.PAUSED
    grant(account=shop, amount=10, reason="Again", actor=None)
    resume_list(address_list=address_list, actor=None)
    assert wallet(shop) == (6, 4)
    assert results_of(run(address_list)) == {
        "jane@shop.com": "mailbox_accepted",
        "jane@catchall.com": "accept_all",
    }
    assert wallet(shop) == (7, 0)


@pytest.mark.anywhere
def test_unknown_domain_is_checked_again_and_then_asked(shop: Account, mail: MailServers) -> None:
    mail.add_host("slow.com", SmtpHost())
    mail.dns.set_behavior("slow.com", "MX", servfail)
    address_list = run(start(shop, ["jane@slow.com", "jane@shop.com"]))
    assert (address_list.state, counts(address_list)) == (ListState.RECHECKING, (1, 0, 0, 1))
    assert wallet(shop) == (BALANCE - 4, 2)
    mail.dns.behaviors.clear()
    get_engine.cache_clear()
    with time_machine.travel(timezone.now() + timedelta(minutes=2)):
        work()
        assert (fresh(address_list).checked, fresh(address_list).unknown) == (1, 0)
        address_list = run(address_list)
    assert (address_list.state, counts(address_list)) == (ListState.COMPLETED, (2, 0, 0, 0))
    assert wallet(shop) == (BALANCE - 4, 0)


def test_erased_address_leaves_nothing(shop: Account) -> None:
    address_list = start(shop, ["jane@shop.com", "unknown@shop.com"])
    work()
    data.erase_address(email="jane@shop.com", account=shop)
    erase_from_list(address_list, "jane@shop.com")
    assert results_of(run(address_list)) == {"unknown@shop.com": "mailbox_not_found"}
    assert fresh(address_list).state == ListState.COMPLETED
    assert wallet(shop) == (BALANCE - 2, 0)


@pytest.mark.anywhere
def test_preview_says_price_and_time(shop: Account, caller: ApiClient) -> None:
    emails = [*names("gmail.com", 90), *names("yahoo.com", 200)]
    created = caller.send_json("POST", "/v1/lists", {"emails": emails}).json()
    work()
    preview = caller.get(f"/v1/lists/{created['id']}/preview").json()
    # Yahoo's servers aren't asked.
    assert preview["price"] == {"at_most": 290, "mailbox_at_most": 580, "mailbox_seconds": 90}


@pytest.mark.anywhere
def test_free_plan_has_no_such_list(account: Account, caller: ApiClient, mail: MailServers) -> None:
    body = {"emails": ["jane@shop.com"], "check": "mailbox"}
    refused = caller.send_json("POST", "/v1/lists", body)
    assert (refused.status_code, error_code(refused)) == (402, "plan_limit_reached")
    assert refused.json()["error"]["details"]["limit"] == 0
    address_list = make_list(account, ["jane@shop.com"])
    refused = caller.call(
        "POST", f"/v1/lists/{address_list.public_id}/start", b'{"check": "mailbox"}'
    )
    assert error_code(refused) == "plan_limit_reached"
    assert fresh(address_list).state == ListState.READY
    assert not fresh(address_list).checks_mailboxes


@pytest.mark.anywhere
def test_lists_without_mailbox_checks_say_so(caller: ApiClient) -> None:
    body = {"emails": ["jane@shop.com"], "check": "mailbox"}
    refused = caller.send_json("POST", "/v1/lists", body)
    assert (refused.status_code, error_code(refused)) == (400, "mailbox_checks_unavailable")
    refused = caller.call(
        "POST", "/v1/lists?check=mailbox", b"jane@shop.com", content_type="text/csv"
    )
    assert error_code(refused) == "mailbox_checks_unavailable"
    body["check"] = "dns"
    created = caller.send_json("POST", "/v1/lists", body)
    assert created.status_code == 201
    assert "check" not in created.json()
