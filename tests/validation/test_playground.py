"""The playground: API requests from the dashboard, charged to the account."""

import json
import os
import re
import shutil
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings

from accounts.models import Account, User
from accounts.services import suspend_account
from credits.models import UseHour, Wallet
from credits.wallet.books import find_discrepancies
from credits.wallet.charges import Charge, charge_account
from tests.clients.typescript.build import build_client
from tests.servers.keys import make_key
from tests.servers.product import ROOT, product
from tests.support.api_client import ApiClient
from validation.models import LogEntry
from validation.presenters.code_samples import (
    CodeSample,
    build_batch_code_samples,
    build_code_samples,
)

pytestmark = pytest.mark.anywhere

PAGE = "/validation/playground/"
ODD_ADDRESSES = ['it\'s "odd" $HOME \\n `id`@shop.example', "jörg@例え.テスト"]


def submit(browser: Client, email: str) -> str:
    response = browser.post(PAGE, {"email": email})
    assert response.status_code == 200
    return response.content.decode()


def without_tags(page: str) -> str:
    """Return the text of a page, whose code has colors."""
    return unescape(re.sub("<[^>]+>", "", page))


def test_request_is_charged_and_recorded_without_a_key(browser: Client, account: Account) -> None:
    page = submit(browser, "no address")
    assert "X-Credits-Remaining: 99" in without_tags(page)
    assert "99 credits" in page
    assert "An address needs an @" in page
    assert Wallet.objects.get(account=account).balance == 99
    assert UseHour.objects.get(account=account).key is None
    entry = LogEntry.objects.get(account=account)
    assert (entry.key, entry.verdict, entry.cost) == (None, "undeliverable", 1)
    assert not list(find_discrepancies())


def test_address_is_not_trimmed(browser: Client) -> None:
    assert "space before or after" in submit(browser, " jane@shop.example ")


def test_requests_count_toward_the_account_rate_limit(browser: Client, caller: ApiClient) -> None:
    caller.get("/v1/me")
    assert "X-RateLimit-Remaining: 58" in without_tags(submit(browser, "risky@sandbox.test"))
    assert caller.get("/v1/me").headers["X-RateLimit-Remaining"] == "57"


def test_requests_beyond_the_rate_limit_are_refused_like_api_requests(
    browser: Client, account: Account
) -> None:
    Account.objects.filter(pk=account.pk).update(requests_per_minute_override=1)
    submit(browser, "risky@sandbox.test")
    page = submit(browser, "no address")
    assert "429 <code>rate_limit_exceeded</code>" in page
    assert "HTTP/1.1 429 Too Many Requests" in without_tags(page)
    assert "Retry-After: " in without_tags(page)
    assert Wallet.objects.get(account=account).balance == 100


def test_without_credits_the_page_links_to_the_purchase(browser: Client, account: Account) -> None:
    for _ in range(100):
        charge_account(Charge(account=account, key=None, verdict="risky", cost=1, duration_ms=1))
    page = submit(browser, "no address")
    assert "402 <code>insufficient_credits</code>" in page
    assert "Buy credits</a>" in page
    assert "deliverable" in submit(browser, "deliverable@sandbox.test")


def test_suspended_account_is_refused(browser: Client, account: Account, staff: User) -> None:
    suspend_account(account=account, actor=staff)
    assert "403 <code>account_suspended</code>" in submit(browser, "no address")


def test_typed_address_is_escaped(browser: Client) -> None:
    page = submit(browser, "<script>alert(1)</script>@shop.example")
    assert "<script>alert" not in page


def test_suggestion_is_the_value_of_a_button(browser: Client) -> None:
    page = submit(browser, "possible_typo@sandbox.test")
    button = re.search(r'<button[^>]*form="try"[^>]*>', page, re.DOTALL)
    assert button
    assert 'value="possible_typo@mailbox.test"' in button[0]
    assert "Looks like a typo of mailbox.test." in page


def test_button_with_an_address_takes_precedence_over_the_field(browser: Client) -> None:
    response = browser.post(PAGE, {"email": ["typed@shop.example", "risky@sandbox.test"]})
    page = response.content.decode()
    assert '"email": "risky@sandbox.test"' in without_tags(page)
    assert 'value="risky@sandbox.test"' in page


@pytest.mark.parametrize("email", ODD_ADDRESSES)
def test_code_samples_quote_any_address(email: str) -> None:
    code = {
        sample.language: sample.code for sample in build_code_samples("http://127.0.0.1:1", email)
    }
    assert "SVC_API_KEY" in code["curl"]
    compile(code["Python"], "sample", "exec")
    assert f"validate({json.dumps(email)})" in code["Python"]
    assert "svc_live_" not in "".join(code.values())


def test_batch_code_samples_quote_any_address() -> None:
    code = {
        sample.language: sample.code
        for sample in build_batch_code_samples("http://127.0.0.1:1", ODD_ADDRESSES)
    }
    compile(code["Python"], "sample", "exec")
    for email in ODD_ADDRESSES:
        assert f"    {json.dumps(email)},\n" in code["Python"]
        assert f"  {json.dumps(email)},\n" in code["TypeScript"]
    assert '    "j\\u{f6}rg@' in code["PHP"]
    for language in ("curl", "PHP"):
        assert "http://127.0.0.1:1/v1/validate/batch" in code[language]


@pytest.mark.process
@pytest.mark.proof
def test_code_samples_run_unmodified(tmp_path: Path) -> None:
    """Use a running product and addresses that are hard to quote."""
    with product(tmp_path) as site:
        secret = make_key(site, "paste@shop.example", 1_000)
        single, batch = (
            {
                sample.language: run(sample, secret, site.url, tmp_path)
                for sample in samples
                if interpreter(sample.language) is not None
            }
            for samples in (
                build_code_samples(site.url, ODD_ADDRESSES[0]),
                build_batch_code_samples(site.url, ODD_ADDRESSES),
            )
        )
    assert single.keys() == batch.keys() >= {"curl", "Python"}
    result = json.loads(single.pop("curl"))
    assert result["email"] == ODD_ADDRESSES[0]
    assert set(single.values()) == {f"{result['verdict']}\n"}
    results = json.loads(batch.pop("curl"))["results"]
    assert [result["email"] for result in results] == ODD_ADDRESSES
    expected = "".join(f"{result['email']} {result['verdict']}\n" for result in results)
    assert set(batch.values()) == {expected}


def interpreter(language: str) -> list[str] | None:
    """Return None if the interpreter isn't installed."""
    names = {"curl": "bash", "TypeScript": "node", "PHP": "php"}
    if language == "Python":
        return [sys.executable]
    path = shutil.which(names[language])
    return None if path is None or shutil.which("curl") is None else [path]


def run(sample: CodeSample, secret: str, base_url: str, folder: Path) -> str:
    suffix = {"curl": "sh", "Python": "py", "TypeScript": "mjs", "PHP": "php"}[sample.language]
    modules = folder / "node_modules"
    if sample.language == "TypeScript" and not modules.exists():
        modules.symlink_to(build_client() / "node_modules")
    file = folder / f"sample.{suffix}"
    file.write_text(sample.code, encoding="utf-8")
    process = subprocess.run(
        [*(interpreter(sample.language) or []), str(file)],
        capture_output=True,
        text=True,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "PYTHONPATH": str(ROOT / "clients" / "python" / "src"),
            "SVC_API_KEY": secret,
            "SVC_BASE_URL": base_url,
        },
        check=False,
    )
    assert process.returncode == 0, process.stderr
    return process.stdout


@pytest.mark.parametrize("is_on", [False, True])
def test_page_says_what_a_check_costs(browser: Client, settings: Settings, is_on: bool) -> None:
    settings.PROBE_MAILBOX_CHECKS = is_on
    page = " ".join(browser.get(PAGE).content.decode().split())
    more = ", or 2 if the mail server says whether the mailbox exists" if is_on else ""
    assert f"A definite verdict costs 1 credit{more}. Unknown" in page
