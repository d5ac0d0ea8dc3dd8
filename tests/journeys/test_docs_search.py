"""Searching the docs with the keyboard."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.journeys.findings import assert_no_findings
from tests.journeys.sign_in import assert_heading
from tests.journeys.windows import Windows, widen

QUERIES = ["insufficient_credits", "retry loop", "rate limit", "x-credits", "idempotency key"]


@pytest.fixture(scope="module")
def window(shared_windows: Windows) -> Page:
    return shared_windows.open()


@pytest.fixture
def page(window: Page) -> Page:
    widen(window).goto("/docs/")
    return window


def test_search_works_with_the_keyboard_alone(page: Page) -> None:
    search = page.get_by_role("combobox", name="Search the docs")
    page.keyboard.press("/")
    expect(search).to_be_focused()
    page.keyboard.type("X-RateLimit")
    options = page.get_by_role("option")
    expect(options.first).to_have_text("Rate limit headers Rate limits")
    assert_no_findings(page)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    expect(page.get_by_role("option", selected=True)).to_have_text("Rate limit headers Rate limits")
    page.keyboard.press("Enter")
    page.wait_for_url("**/docs/rate-limits/#headers")
    expect(page.get_by_role("heading", name="Rate limit headers")).to_be_in_viewport()


def test_escape_closes_the_suggestions_and_a_slash_can_be_typed(page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.type("v1/me")
    expect(page.get_by_role("option").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("listbox")).to_be_hidden()
    expect(page.get_by_role("combobox")).to_have_value("v1/me")


def test_enter_without_a_choice_opens_the_search_page(page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.type("insufficient_credits")
    page.keyboard.press("Enter")
    assert_heading(page, "Search")
    expect(page.get_by_role("main").get_by_role("link").first).to_have_text("insufficient_credits")


def test_suggestions_are_the_first_results_of_the_search_page(page: Page) -> None:
    for query in QUERIES:
        page.goto("/docs/")
        page.get_by_role("combobox").fill(query)
        expect(page.get_by_role("option").first).to_be_visible()
        suggested = read_links(page.get_by_role("option"))
        page.goto(f"/docs/search/?q={query}")
        found = read_links(page.locator(".docs-found a"))
        assert suggested == found[: len(suggested)], query
        assert len(suggested) == min(len(found), 8), query


def read_links(links: Locator) -> list[str]:
    hrefs: list[str] = links.evaluate_all("links => links.map((link) => link.getAttribute('href'))")
    return hrefs
