"""The font: it loads once, and a page never moves text to show it."""

import pytest
from playwright.sync_api import Page, expect

from tests.journeys.findings import PAINT, find_layout_shift
from tests.journeys.windows import NARROW, WIDE, Windows

FONT = "**/Inter*.woff2"
PUBLIC_PAGES = ["/", "/accounts/signup/", "/docs/", "/docs/api/lists/"]
# The width of a text that differs between both fonts.
TEXT_WIDTH = """(() => {
  const text = document.createElement("span");
  text.style.position = "absolute";
  text.style.whiteSpace = "nowrap";
  text.textContent = "View the last 12 months. ".repeat(20);
  document.body.append(text);
  const width = text.offsetWidth;
  text.remove();
  return width;
})()"""


@pytest.mark.parametrize("width", [WIDE, NARROW])
@pytest.mark.parametrize("path", PUBLIC_PAGES)
def test_text_stays_in_place_when_the_font_arrives_late(
    windows: Windows, path: str, width: int
) -> None:
    """Show the page in the fallback font, deliver the font, then show the page again."""
    page = windows.open(width=width)
    page.route(FONT, lambda route: None)
    page.goto(path, wait_until="domcontentloaded")
    page.evaluate(PAINT)
    fallback_width = page.evaluate(TEXT_WIDTH)
    # Delivers the held font.
    with page.expect_event("load"):
        page.unroute(FONT)
    page.evaluate(PAINT)
    assert find_layout_shift(page) == 0
    # While a route is set, the browser caches nothing. This visit caches the font, which may come
    # too late for it.
    page.goto(path)
    page.goto(path)
    expect(page.locator("h1").first).to_be_visible()
    assert page.evaluate(TEXT_WIDTH) != fallback_width
    assert find_layout_shift(page) == 0


def test_each_page_requests_the_font_once(page: Page) -> None:
    types: list[str] = []
    page.on("request", lambda request: types.append(request.resource_type))
    page.goto("/")
    assert types.count("font") == 1, types
