"""Settings → Domains in a browser: counts, errors, concurrent changes, and the playground."""

import pytest
from playwright.sync_api import Page, expect

from tests.journeys.newcomers import Newcomer
from tests.journeys.windows import Windows

PAGE = "/validation/domains/"
PASTE_TOO_MANY = """field => {
  field.value = "spam.example\\n".repeat(9_999);
  field.dispatchEvent(new Event("input", { bubbles: true }));
}"""


@pytest.fixture
def page(windows: Windows, newcomer: Newcomer) -> Page:
    page = windows.open(newcomer)
    page.goto("/validation/")
    page.get_by_role("link", name="Domains").click()
    expect(page.get_by_role("heading", name="Domains")).to_be_visible()
    return page


def save(page: Page, allowed: str = "", denied: str = "") -> None:
    page.get_by_label("Allowed domains").fill(allowed)
    page.get_by_label("Denied domains").fill(denied)
    page.get_by_role("button", name="Save domains").click()


def test_counts_follow_the_text(page: Page) -> None:
    counts = page.locator(".domains-count")
    expect(counts).to_have_text(["0 domains", "0 domains"])
    page.get_by_label("Allowed domains").fill("one.example\n\n two.example ")
    page.get_by_label("Denied domains").fill("spam.example")
    expect(counts).to_have_text(["2 domains", "1 domain"])
    expect(counts.first).to_have_class("domains-count")
    # The browser would take seconds to type that many lines.
    page.get_by_label("Denied domains").evaluate(PASTE_TOO_MANY)
    expect(counts.first).to_have_class("domains-count domains-too-many")


def test_domain_is_denied_after_its_error_is_corrected(page: Page) -> None:
    save(page, denied="shop.example\nco.uk")
    expect(page.get_by_text("Line 2: “co.uk” is a public suffix")).to_be_visible()
    save(page, denied="shop.example\nshop.co.uk")
    expect(page.get_by_text("Saved 0 allowed and 2 denied domains.")).to_be_visible()
    page.goto("/validation/playground/")
    page.get_by_label("Address").fill("jane@mail.shop.example")
    page.get_by_role("button", name="Validate", exact=True).click()
    expect(page.get_by_text("Denied by your own domains: reject the address.")).to_be_visible()
    page.get_by_role("link", name="Your domains").click()
    expect(page.get_by_label("Denied domains")).to_have_value("shop.example\nshop.co.uk")
