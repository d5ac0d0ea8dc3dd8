"""The playground: examples, tabs, the suggestion, and the addresses of this visit."""

import pytest
from playwright.sync_api import Page, expect

from tests.journeys.newcomers import Newcomer
from tests.journeys.windows import Windows

PAGE = "/validation/playground/"


@pytest.fixture
def page(windows: Windows, newcomer: Newcomer) -> Page:
    page = windows.open(newcomer)
    page.goto(PAGE)
    return page


def test_example_is_filled_in_and_validated(page: Page) -> None:
    page.get_by_label("Address").fill("another address")
    page.get_by_role("button", name="undeliverable@sandbox.test").click()
    expect(page.get_by_role("heading", name="undeliverable@sandbox.test")).to_be_visible()
    expect(page.get_by_label("Address")).to_have_value("undeliverable@sandbox.test")


def test_tabs_work_with_the_keyboard_and_are_remembered(page: Page) -> None:
    page.get_by_role("button", name="deliverable@sandbox.test").first.click()
    result, json = page.get_by_role("tab", name="Result"), page.get_by_role("tab", name="JSON")
    expect(result).to_have_attribute("aria-selected", "true")
    expect(page.get_by_text('"verdict"').first).to_be_hidden()
    result.focus()
    page.keyboard.press("ArrowRight")
    expect(json).to_be_focused()
    expect(page.get_by_role("tabpanel", name="JSON")).to_contain_text('"verdict": "deliverable"')
    page.keyboard.press("End")
    expect(page.get_by_role("tabpanel", name="Code")).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(result).to_be_focused()
    page.keyboard.press("ArrowRight")
    page.get_by_role("button", name="risky@sandbox.test").first.click()
    expect(page.get_by_role("tabpanel", name="JSON")).to_contain_text('"verdict": "risky"')


def test_visit_lists_its_addresses_until_another_account_is_used(page: Page) -> None:
    for word in ("deliverable", "risky", "risky"):
        page.get_by_label("Address").fill(f"{word}@sandbox.test")
        with page.expect_navigation():
            page.keyboard.press("Enter")
    items = page.locator(".history li")
    expect(items).to_have_text(["risky@sandbox.testrisky", "deliverable@sandbox.testdeliverable"])
    items.last.get_by_role("button").click()
    expect(page.get_by_label("Address")).to_have_value("deliverable@sandbox.test")

    page.goto("/accounts/account/open/")
    page.get_by_label("Account name").fill("Second Hat")
    page.get_by_role("main").get_by_role("button").first.click()
    expect(page.locator(".app-side .account-name").first).to_have_text("Second Hat")
    page.goto(PAGE)
    expect(page.get_by_label("Address")).to_be_visible()
    expect(items).to_have_count(0)
