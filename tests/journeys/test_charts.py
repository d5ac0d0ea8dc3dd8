"""Charts in a browser: hover, tap and arrow keys show the numbers of a bar, a click leads on."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.journeys.findings import assert_no_findings
from tests.journeys.keys import create_key
from tests.journeys.newcomers import Newcomer, Newcomers
from tests.journeys.windows import Windows, widen
from tests.servers.client import HttpCaller
from tests.servers.product import Product

TOTAL = "Last 30 days: 2 validations"
TODAY = re.compile(r"^\w{3} \d\d \w{3}: 2 validations$")
EMPTY_DAY = re.compile(r"^\w{3} \d\d \w{3}: 0 validations$")


@pytest.fixture(scope="module")
def customer(newcomers: Newcomers, shared_windows: Windows, site: Product) -> Newcomer:
    """Two requests today, both undeliverable."""
    newcomer = newcomers.take()
    caller = HttpCaller(site, create_key(shared_windows.open(newcomer), "My server"))
    for _ in range(2):
        caller.validate("no address")
    return newcomer


@pytest.fixture(scope="module")
def window(shared_windows: Windows, customer: Newcomer) -> Page:
    return shared_windows.open(customer)


@pytest.fixture
def page(window: Page) -> Page:
    return widen(window)


def expect_shown(page: Page, label: str | re.Pattern[str], undeliverable: str) -> None:
    expect(page.locator("[data-chart-label]")).to_have_text(label)
    expect(page.locator("[data-chart-count=undeliverable]")).to_have_text(undeliverable)


@pytest.mark.parametrize("path", ["/validation/", "/validation/usage/"])
def test_bar_shows_its_day_and_opens_its_requests(page: Page, path: str) -> None:
    page.goto(path)
    bars = page.locator(".chart-bar")
    expect(bars).to_have_count(30)
    expect_shown(page, TOTAL, "2")
    bars.first.hover()
    expect_shown(page, EMPTY_DAY, "0")
    page.get_by_role("heading", level=1).hover()
    expect_shown(page, TOTAL, "2")
    bars.last.click()
    page.wait_for_url(
        re.compile(r"/validation/requests/\?since=\d{4}-\d\d-\d\dT00%3A00&until=.*T00%3A00$")
    )
    expect(page.locator(".log tbody tr")).to_have_count(2)


def test_chart_is_one_tab_stop_with_arrow_keys_between_bars(page: Page) -> None:
    page.goto("/validation/usage/")
    page.locator(".chart-table summary").focus()
    page.keyboard.press("Shift+Tab")
    expect(page.locator(".chart-bar").last).to_be_focused()
    page.keyboard.press("Shift+Tab")
    assert page.evaluate("document.activeElement.closest('.chart')") is None
    page.keyboard.press("Tab")
    expect_shown(page, TODAY, "2")
    page.keyboard.press("ArrowLeft")
    expect_shown(page, EMPTY_DAY, "0")
    assert_no_findings(page)
    page.keyboard.press("End")
    expect_shown(page, TODAY, "2")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/validation/requests/\?since="))


def test_first_tap_shows_a_bar_and_the_second_opens_it(
    windows: Windows, customer: Newcomer
) -> None:
    page = windows.open(customer, has_touch=True)
    page.goto("/validation/usage/")
    page.locator(".chart-bar").last.tap()
    expect_shown(page, TODAY, "2")
    expect(page.get_by_role("link", name="Show requests")).to_be_visible()
    page.locator(".chart-bar").last.tap()
    page.wait_for_url(re.compile(r"/validation/requests/\?since="))
