"""Settings → Domains in a browser: the counts."""

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
