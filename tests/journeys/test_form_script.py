"""A customer's sign-up form with form.js of the TypeScript client."""

import os
import re
import subprocess
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.clients.typescript.build import build_client
from tests.journeys.windows import NARROW, Windows
from tests.servers.keys import make_key
from tests.servers.product import Product


@pytest.fixture(scope="module")
def shop(site: Product) -> Iterator[str]:
    with subprocess.Popen(
        ["node", "test/shop.mjs"],
        cwd=build_client(),
        env={
            "PATH": os.environ["PATH"],
            "SVC_API_KEY": make_key(site, "shop@form.example"),
            "SVC_BASE_URL": site.url,
        },
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}/"
        process.terminate()


def fill(page: Page, email: str) -> None:
    page.get_by_label("Email").fill(email)
    page.get_by_label("Email").blur()


def test_suggestion_is_shown_and_accepted_with_one_click(windows: Windows, shop: str) -> None:
    page = windows.open(width=NARROW)
    page.goto(shop)
    fill(page, "possible_typo@sandbox.test")
    note = page.locator("#email-check")
    expect(note).to_have_text("Did you mean possible_typo@mailbox.test?")
    assert Axe().run(page).violations_count == 0
    note.get_by_role("button").click()
    expect(page.get_by_label("Email")).to_have_value("possible_typo@mailbox.test")
    expect(page.get_by_label("Email")).to_be_focused()
    expect(note).to_be_empty()


def test_refused_address_gets_a_sentence_and_never_blocks_the_form(
    windows: Windows, shop: str
) -> None:
    page = windows.open()
    page.goto(shop)
    fill(page, "disposable@sandbox.test")
    expect(page.locator("#email-check")).to_have_text(
        "Please enter an email address that can receive mail."
    )
    page.get_by_label("Email").fill("deliverable@sandbox.test")
    expect(page.locator("#email-check")).to_be_empty()
    page.get_by_label("Email").fill("disposable@sandbox.test")
    page.get_by_role("button", name="Sign up").click()
    expect(page.get_by_role("heading")).to_have_text("Welcome, disposable@sandbox.test")


def test_form_works_while_the_route_fails_and_without_javascript(
    windows: Windows, shop: str
) -> None:
    failing, plain = windows.open(), windows.open(java_script_enabled=False)
    failing.route("**/email-check", lambda route: route.fulfill(body="An error page"))
    for page in (failing, plain):
        page.goto(shop)
        fill(page, "possible_typo@sandbox.test")
        page.get_by_role("button", name="Sign up").click()
        expect(page.get_by_role("heading")).to_have_text("Welcome, possible_typo@sandbox.test")


def test_address_is_checked_again_after_a_failure(windows: Windows, shop: str) -> None:
    page = windows.open()
    page.goto(shop)
    page.route("**/email-check", lambda route: route.fulfill(body="An error page"))
    with page.expect_response("**/email-check"):
        fill(page, "possible_typo@sandbox.test")
    fill(page, "")
    page.unroute("**/email-check")
    fill(page, "possible_typo@sandbox.test")
    expect(page.locator("#email-check")).to_contain_text("possible_typo@mailbox.test")


def test_fields_without_ids_have_notes_of_their_own(windows: Windows, shop: str) -> None:
    page = windows.open()
    page.goto(f"{shop}without-ids")
    fields = page.locator("input")
    fields.last.fill("possible_typo@sandbox.test")
    fields.last.blur()
    expect(fields.last).to_have_accessible_description(re.compile("^Did you mean possible_typo"))
    expect(fields.first).to_have_accessible_description("")
