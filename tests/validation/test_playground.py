"""The playground: the API's own answer, asked in the dashboard and paid by the account."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.test import Client

from accounts.models import Account, User
from accounts.roles import Role
from accounts.services import suspend_account
from credits.models import UseHour, Wallet
from credits.wallet.books import differences
from credits.wallet.charges import Charge, charge
from tests.conftest import make_member, signed_in
from tests.servers.client import HttpCaller
from tests.servers.keys import make_key
from tests.servers.product import product
from tests.support.api_client import ApiClient
from validation.models import LogEntry
from validation.snippets import Snippet, snippets

PAGE = "/validation/playground/"
ODD_ADDRESSES = ['it\'s "odd" $HOME \\n `id`@shop.example', "jörg@例え.テスト"]


@pytest.fixture
def browser(owner: User) -> Client:
    return signed_in(owner)


def ask(browser: Client, email: str) -> str:
    answer = browser.post(PAGE, {"email": email})
    assert answer.status_code == 200
    return answer.content.decode()


@pytest.mark.django_db
def test_an_answer_is_paid_for_and_booked_without_a_key(browser: Client, account: Account) -> None:
    page = ask(browser, "no address")
    assert "X-Credits-Remaining: 99" in page
    assert "An address needs an @" in page
    assert Wallet.objects.get(account=account).balance == 99
    assert UseHour.objects.get(account=account).key is None
    entry = LogEntry.objects.get(account=account)
    assert (entry.key, entry.verdict, entry.cost) == (None, "undeliverable", 1)
    assert not list(differences())


@pytest.mark.django_db
def test_the_meter_shows_what_is_left_after_it(browser: Client) -> None:
    assert "99 credits" in ask(browser, "no address")


@pytest.mark.django_db
def test_nothing_is_trimmed(browser: Client) -> None:
    assert "space before or behind" in ask(browser, " jane@shop.example ")


@pytest.mark.django_db
def test_it_spends_the_requests_of_the_account(browser: Client, caller: ApiClient) -> None:
    caller.get("/v1/me")
    assert "X-RateLimit-Remaining: 58" in ask(browser, "risky@sandbox.test")
    assert caller.get("/v1/me").headers["X-RateLimit-Remaining"] == "57"


@pytest.mark.django_db
def test_too_many_are_refused_as_the_api_refuses_them(browser: Client, account: Account) -> None:
    Account.objects.filter(pk=account.pk).update(requests_per_minute_override=1)
    ask(browser, "risky@sandbox.test")
    page = ask(browser, "no address")
    assert "429 <code>rate_limit_exceeded</code>" in page
    assert "Retry-After: " in page
    assert Wallet.objects.get(account=account).balance == 100


@pytest.mark.django_db
def test_without_credits_it_leads_to_where_they_are_bought(
    browser: Client, account: Account
) -> None:
    for _ in range(100):
        charge(Charge(account=account, key=None, verdict="risky", cost=1, duration_ms=1))
    page = ask(browser, "no address")
    assert "402 <code>insufficient_credits</code>" in page
    assert "Buy credits</a>" in page
    assert "deliverable" in ask(browser, "deliverable@sandbox.test")


@pytest.mark.django_db
def test_a_suspended_account_gets_no_answers(
    browser: Client, account: Account, staff: User
) -> None:
    suspend_account(account=account, actor=staff, ip="192.0.2.1")
    assert "403 <code>account_suspended</code>" in ask(browser, "no address")


@pytest.mark.django_db
def test_the_sandbox_answers_its_errors(browser: Client) -> None:
    assert "500 <code>internal_error</code>" in ask(browser, "internal_error@sandbox.test")


@pytest.mark.django_db
def test_what_is_typed_never_becomes_markup(browser: Client) -> None:
    page = ask(browser, "<script>alert(1)</script>@shop.example")
    assert "<script>alert" not in page


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("role", "status"),
    [
        (Role.ADMIN, 200),
        (Role.DEVELOPER, 200),
        (Role.BILLING, 403),
        (Role.VIEWER, 403),
    ],
)
def test_who_may_spend_credits_may_try(account: Account, role: Role, status: int) -> None:
    browser = signed_in(make_member(account, role))
    assert browser.get(PAGE).status_code == status
    assert (PAGE in browser.get("/validation/").content.decode()) is (status == 200)


@pytest.mark.parametrize("email", ODD_ADDRESSES)
def test_snippets_hold_any_address_as_it_is(email: str) -> None:
    of = {snippet.language: snippet.code for snippet in snippets("http://127.0.0.1:1", email)}
    assert "SVC_API_KEY" in of["curl"]
    compile(of["Python"], "snippet", "exec")
    literal = next(line for line in of["Python"].splitlines() if "json.dumps" in line)
    assert json.dumps(email) in literal
    assert "svc_live_" not in "".join(of.values())


@pytest.mark.process
@pytest.mark.proof
def test_snippets_run_as_they_stand(tmp_path: Path) -> None:
    """Against the product, with an address that is hard to quote."""
    with product(tmp_path) as site:
        secret = make_key(site, "paste@shop.example", 1_000)
        said = {
            snippet.language: run(snippet, secret, tmp_path)
            for snippet in snippets(site.url, ODD_ADDRESSES[0])
            if interpreter(snippet.language) is not None
        }
        caller = HttpCaller(site, secret)
        direct = caller.validate(ODD_ADDRESSES[0]).document
        caller.close()
    assert {"curl", "Python"} <= said.keys()
    assert json.loads(said.pop("curl"))["email"] == direct["email"]
    assert set(said.values()) == {f"{direct['verdict']}\n"}


def interpreter(language: str) -> list[str] | None:
    """None where this machine has none."""
    names = {"curl": "bash", "JavaScript": "node", "PHP": "php"}
    if language == "Python":
        return [sys.executable]
    found = shutil.which(names[language])
    return None if found is None or shutil.which("curl") is None else [found]


def run(snippet: Snippet, secret: str, folder: Path) -> str:
    suffix = {"curl": "sh", "Python": "py", "JavaScript": "mjs", "PHP": "php"}[snippet.language]
    file = folder / f"snippet.{suffix}"
    file.write_text(snippet.code, encoding="utf-8")
    done = subprocess.run(
        [*(interpreter(snippet.language) or []), str(file)],
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "SVC_API_KEY": secret},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
