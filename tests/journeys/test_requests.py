"""The request log in a browser: search, time ranges, live rows, and ids to copy."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.journeys.findings import assert_no_findings
from tests.journeys.keys import create_key
from tests.journeys.newcomers import Newcomer, Newcomers
from tests.journeys.windows import Windows, widen
from tests.servers.client import HttpCaller
from tests.servers.product import Product
from tests.support.waiting import wait_until

PAGE = "/validation/requests/"
LONG_NAME = "Sign-up form of the Norwegian storefront, stage"
WORDS = ["deliverable", "risky", "undeliverable", "unknown", "insufficient_credits"]
RANGE = re.compile(r"[?&]since=(\d{4}-\d\d-\d\dT\d\d%3A\d\d)&until=(\d{4}-\d\d-\d\dT\d\d%3A\d\d)$")


@pytest.fixture(scope="module")
def customer(newcomers: Newcomers) -> Newcomer:
    return newcomers.take()


@pytest.fixture(scope="module")
def secret(customer: Newcomer, shared_windows: Windows, site: Product) -> str:
    """An API key with a request of each kind."""
    page = shared_windows.open(customer)
    secret = create_key(page, LONG_NAME)
    caller = HttpCaller(site, secret)
    for word in WORDS:
        caller.validate(f"{word}@sandbox.test")
    # Refusals are stored a moment later.
    wait_until(lambda: page.goto(PAGE) and page.locator(".log tbody tr").count() == len(WORDS))
    return secret


@pytest.fixture(scope="module")
def window(shared_windows: Windows, customer: Newcomer, secret: str) -> Page:
    return shared_windows.open(customer)


@pytest.fixture
def page(window: Page) -> Page:
    return widen(window)


def search(page: Page, text: str) -> None:
    page.get_by_label("Search requests").fill(text)
    with page.expect_navigation():
        page.get_by_role("button", name="Search").click()


@pytest.mark.main_path
def test_search_adds_chips_that_remove_their_filter(page: Page) -> None:
    page.goto(PAGE)
    search(page, "unknown sandbox.test")
    expect(page.locator(".log tbody tr")).to_have_count(1)
    assert_no_findings(page)
    page.get_by_role("link", name="Remove the filter verdict: unknown").click()
    page.wait_for_url(f"**{PAGE}?domain=sandbox.test")
    page.go_back()
    expect(page.locator(".log tbody tr")).to_have_count(1)
    page.get_by_role("link", name="Clear").click()
    page.wait_for_url(f"**{PAGE}")
    search(page, "Unknown@sandbox.test")
    expect(
        page.get_by_role("link", name="Remove the filter address: U***@sandbox.test")
    ).to_be_visible()
    assert "sandbox" not in page.url


def test_search_that_is_not_understood_has_no_findings(page: Page) -> None:
    page.goto(f"{PAGE}?verdict=risky")
    search(page, "status:999 nonsense")
    expect(page.get_by_role("alert")).to_contain_text("We didn't understand nonsense.")
    assert page.url.endswith(f"{PAGE}?verdict=risky")
    assert_no_findings(page)


def test_dragging_over_the_chart_chooses_a_range(page: Page) -> None:
    page.goto(f"{PAGE}?range=1h&status=200")
    box = page.locator(".chart-bars").bounding_box()
    assert box
    bars = page.locator(".chart-bar").count()
    y, slot = box["y"] + box["height"] / 2, box["width"] / bars
    page.mouse.move(box["x"] + slot * (bars - 0.5), y)
    page.mouse.down()
    page.mouse.move(box["x"] + slot * (bars - 10.5), y, steps=3)
    expect(page.locator(".chart-selection")).to_be_visible()
    page.mouse.up()
    page.wait_for_url(RANGE)
    expect(page.locator(".chart-bar")).to_have_count(11)
    expect(page.get_by_role("link", name="Remove the filter status: 200")).to_be_visible()


def test_escape_ends_the_selection_of_a_range(page: Page) -> None:
    page.goto(f"{PAGE}?range=1h")
    box = page.locator(".chart-bars").bounding_box()
    assert box
    page.mouse.move(box["x"] + 20, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 200, box["y"] + 20)
    page.keyboard.press("Escape")
    expect(page.locator(".chart-selection")).to_have_count(0)
    page.mouse.move(box["x"] + 200, box["y"] - 100)
    page.mouse.up()
    assert page.url.endswith("?range=1h")


def test_range_and_search_work_without_javascript(
    windows: Windows, customer: Newcomer, secret: str
) -> None:
    page = windows.open(customer, java_script_enabled=False)
    page.goto(PAGE)
    page.get_by_text("Custom range").click()
    page.get_by_label("From", exact=True).fill("2026-01-01T10:00")
    page.get_by_label("To", exact=True).fill("2126-01-01T10:00")
    page.get_by_role("button", name="Apply range").click()
    page.wait_for_url(RANGE)
    expect(page.locator(".log tbody tr").first).to_be_visible()
    page.get_by_label("Search requests").fill("402")
    page.get_by_label("Search requests").press("Enter")
    page.wait_for_url(re.compile(r"status=402.*since="))
    expect(page.locator(".log tbody tr")).to_have_count(1)
    expect(page.get_by_role("switch")).to_be_hidden()


def test_live_page_adds_requests_and_announces_them(page: Page, site: Product, secret: str) -> None:
    page.goto(f"{PAGE}?verdict=risky")
    rows = page.locator(".log tbody tr")
    before = rows.count()
    page.get_by_role("switch", name="Live").check()
    caller = HttpCaller(site, secret)
    for word in ("risky", "deliverable", "risky"):
        caller.validate(f"{word}@sandbox.test")
    expect(rows).to_have_count(before + 2)
    expect(page.locator(".log-live [role=status]")).to_have_text(re.compile("new request"))
    assert_no_findings(page)


def test_bars_of_a_live_page_count_the_new_requests(page: Page, site: Product, secret: str) -> None:
    page.goto(f"{PAGE}?verdict=risky")
    count = page.locator("[data-chart-count=risky]")
    before = int(count.inner_text())
    page.get_by_text("Show as a table").click()
    page.get_by_role("heading", level=1).click()
    page.get_by_role("switch", name="Live").check()
    page.mouse.move(0, 0)
    page.get_by_role("switch", name="Live").blur()
    HttpCaller(site, secret).validate("risky@sandbox.test")
    expect(count).to_have_text(str(before + 1))
    # The new chart is set up as the first one was.
    expect(page.locator(".chart-table")).to_have_attribute("open", "")
    page.locator(".chart-bar").first.hover()
    expect(count).to_have_text("0")
    assert_no_findings(page)


def test_live_page_pauses_in_a_hidden_tab(page: Page) -> None:
    page.goto(PAGE)
    polls: list[str] = []
    page.on("request", lambda request: polls.append(request.url))
    page.clock.install()
    with page.expect_response(f"**{PAGE}"):
        page.get_by_role("switch", name="Live").check()
    set_hidden(page, "true")
    page.wait_for_timeout(200)
    polls.clear()
    page.clock.run_for(60_000)
    page.wait_for_timeout(200)
    assert polls == []
    set_hidden(page, "false")
    with page.expect_response(f"**{PAGE}"):
        page.clock.run_for(10_000)


def set_hidden(page: Page, value: str) -> None:
    page.evaluate(
        f"""Object.defineProperty(document, "hidden", {{value: {value}, configurable: true}});
        document.dispatchEvent(new Event("visibilitychange"))"""
    )


def test_rows_have_one_line(page: Page) -> None:
    page.goto(PAGE)
    script = "rows => rows.map(row => row.getBoundingClientRect().height)"
    heights = page.eval_on_selector_all(".log tbody tr", script)
    assert len(heights) >= len(WORDS)
    assert max(heights) < 45


def test_id_is_copied_and_stored_data_unfolds(
    windows: Windows, customer: Newcomer, secret: str
) -> None:
    page = windows.open(customer, permissions=["clipboard-read", "clipboard-write"])
    page.goto(f"{PAGE}?verdict=risky")
    page.locator(".log-link").first.click()
    page.get_by_role("button", name="Copy").first.click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == page.locator("#id-request").inner_text()
    for name in ("Request", "Response"):
        page.locator("summary", has_text=name).click()
    expect(page.locator("#response-data")).to_contain_text('"verdict": "risky"')
    assert_no_findings(page)
