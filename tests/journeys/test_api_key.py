"""The life of an API key, from sign-up to the first request."""

import json
import re
import subprocess

import pytest
from playwright.sync_api import Page, expect

from tests.journeys.findings import assert_no_findings
from tests.journeys.keys import create_key, fill_key_form, open_form_through_settings
from tests.journeys.newcomers import Newcomer, Newcomers
from tests.journeys.sign_in import assert_heading, sign_up
from tests.journeys.windows import Windows, widen
from tests.servers.client import HttpCaller
from tests.servers.product import Product

WAITING = re.compile("Waiting for (your|the) first request")
KEY_PATTERN = re.compile(r"svc_live_[0-9A-Za-z]{38}")


@pytest.fixture(scope="module")
def customer(newcomers: Newcomers) -> Newcomer:
    return newcomers.take()


@pytest.fixture(scope="module")
def window(shared_windows: Windows, customer: Newcomer) -> Page:
    return shared_windows.open(customer)


@pytest.fixture
def page(window: Page) -> Page:
    return widen(window)


def run_in_shell(lines: str) -> str:
    process = subprocess.run(
        ["bash", "-c", lines], capture_output=True, text=True, check=True, timeout=30
    )
    return process.stdout


@pytest.mark.main_path
def test_new_customer_makes_a_first_request(windows: Windows, site: Product) -> None:
    page = windows.open(permissions=["clipboard-read", "clipboard-write"])
    sign_up(page, site, "first-call@newcomer.example")
    open_form_through_settings(page)
    secret = fill_key_form(page, "My server")
    assert KEY_PATTERN.fullmatch(secret)
    page.get_by_role("button", name="Copy").first.click()
    expect(page.get_by_role("button", name="Copied").first).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == secret
    page.get_by_role("button", name="Copy").last.click()
    page.wait_for_function(
        "text => navigator.clipboard.readText().then((copied) => copied !== text)", arg=secret
    )
    lines: str = page.evaluate("navigator.clipboard.readText()")
    assert lines.startswith(f"export SVC_API_KEY={secret}\ncurl ")
    assert lines.count(secret) == 1
    assert json.loads(run_in_shell(lines))["verdict"] == "deliverable"


def test_first_request_appears_without_a_reload(windows: Windows, newcomer: Newcomer) -> None:
    """The page of the new key and the overview both show it; the overview then shows statistics."""
    page, overview = windows.open(newcomer), windows.open(newcomer)
    overview.goto("/validation/")
    expect(overview.get_by_text("in three steps")).to_be_visible()
    create_key(page, "First")
    lines = page.locator("#try").inner_text()
    overview.reload()
    for window in (page, overview):
        expect(window.get_by_text(WAITING)).to_be_visible()
    run_in_shell(lines)
    for window in (page, overview):
        expect(
            window.get_by_text("We received your request: d***@sandbox.test is deliverable")
        ).to_be_visible()
        expect(window.get_by_text(WAITING)).to_have_count(0)
    expect(overview.locator(".steps-number:visible")).to_have_count(0)
    expect(overview.get_by_role("button", name="Try a real address (1 credit)")).to_be_visible()
    page.get_by_role("button", name="Open the overview").click()
    expect(page.get_by_text("Your first request worked.")).to_be_visible()
    overview.reload()
    expect(overview.get_by_role("heading", name="Latest requests")).to_be_visible()
    overview.get_by_role("table").get_by_role("link").first.click()
    expect(overview.get_by_text("Free: sandbox")).to_be_visible()


def test_hours_are_shown_in_the_time_zone_of_the_browser(
    windows: Windows, site: Product, newcomer: Newcomer
) -> None:
    page = windows.open(newcomer, timezone_id="Australia/Adelaide")
    page.goto("/validation/")
    HttpCaller(site, create_key(page, "Adelaide")).validate("no address")
    page.goto("/validation/usage/?range=24h")
    expect(page.get_by_text("Hours are in your time zone, Australia/Adelaide.")).to_be_visible()
    page.get_by_text("Show as a table").click()
    expect(page.get_by_role("rowheader").first).to_contain_text(":30")


def test_the_page_of_a_new_key_has_no_findings(page: Page) -> None:
    create_key(page, "Looked at")
    assert_no_findings(page)


def test_key_is_shown_only_once(page: Page) -> None:
    secret = create_key(page, "Shown once")
    page.reload()
    assert_heading(page, "Key already shown")
    expect(page.get_by_text("A key is shown only once.")).to_be_visible()
    page.goto("/apikeys/")
    assert secret not in page.content()
    page.go_back()
    assert_heading(page, "Key already shown")
    assert secret not in page.content()
    page.goto("/apikeys/")
    expect(page.get_by_role("row").filter(has_text="Shown once")).to_have_count(1)
