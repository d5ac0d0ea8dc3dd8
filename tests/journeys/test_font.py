"""The font: it loads once, and text stays in place when it replaces the fallback font."""

import pytest
from playwright.sync_api import Page

from tests.journeys.newcomers import Newcomer
from tests.journeys.windows import NARROW, WIDE, Windows

pytestmark = pytest.mark.proof

FONT = "**/Inter*.woff2"
PAGES = ["/", "/accounts/login/", "/docs/"]
# Browsers call a layout shift below 0.1 good. One line that wraps differently is about 0.02.
SLIGHT = 0.005
# Resolves after two frames, so that everything known by now is painted.
PAINT = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
IS_LOADED = "[...document.fonts].some((font) => font.family == 'Inter' && font.status == 'loaded')"
LAYOUT_SHIFT = """new Promise((resolve) => {
  const add = (list) => resolve(list.getEntries().reduce((sum, entry) => sum + entry.value, 0));
  new PerformanceObserver(add).observe({type: "layout-shift", buffered: true});
  setTimeout(resolve, 300, 0);
})"""


@pytest.mark.parametrize("width", [WIDE, NARROW])
@pytest.mark.parametrize("path", PAGES)
def test_text_stays_in_place_while_the_font_loads(windows: Windows, path: str, width: int) -> None:
    assert_text_stays_in_place(windows.open(width=width), path)


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_overview_stays_in_place_while_the_font_loads(
    windows: Windows, newcomer: Newcomer, width: int
) -> None:
    assert_text_stays_in_place(windows.open(newcomer, width=width), "/validation/")


def test_each_page_requests_the_font_once(page: Page) -> None:
    types: list[str] = []
    page.on("request", lambda request: types.append(request.resource_type))
    page.goto("/")
    assert types.count("font") == 1, types


def assert_text_stays_in_place(page: Page, path: str) -> None:
    """Show the page in the fallback font, deliver the font, then show the page again."""
    page.route(FONT, lambda route: None)
    page.goto(path, wait_until="domcontentloaded")
    page.evaluate(PAINT)
    assert not page.evaluate(IS_LOADED)
    # Delivers the held font.
    with page.expect_event("load"):
        page.unroute(FONT)
    page.evaluate(f"document.fonts.ready.then(() => {PAINT})")
    assert page.evaluate(IS_LOADED)
    assert page.evaluate(LAYOUT_SHIFT) < SLIGHT
    page.goto(path)
    assert page.evaluate(LAYOUT_SHIFT) == 0
