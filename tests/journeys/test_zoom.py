"""Pages with text twice as large. A zoom of 200% is a narrower window."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.journeys.conftest import ARGUMENTS
from tests.journeys.populated_account import PopulatedAccount
from tests.journeys.windows import Windows, open_windows
from tests.servers.product import Product

PUBLIC_PAGES = ["/", "/accounts/signup/", "/docs/", "/docs/verdicts/", "/docs/api/lists/"]
MEMBER_PAGES = [
    *("/validation/", "/validation/requests/", "/validation/requests/{request_id}/{moment}/"),
    *("/validation/usage/", "/validation/playground/batch/", "/lists/", "/lists/{list_id}/"),
    *("/credits/", "/credits/orders/{order_id}/", "/apikeys/", "/accounts/team/"),
    *("/accounts/2fa/recovery-codes/", "/accounts/audit/"),
]
LARGE_TEXT = "--blink-settings=defaultFontSize=32,defaultFixedFontSize=26"
TEXT_SIZE = "getComputedStyle(document.documentElement).fontSize"
# Only code may be wider than the page.
TOO_WIDE = """[...document.querySelectorAll("body *")]
  .filter((element) => element.checkVisibility({visibilityProperty: true}))
  .filter((element) => !element.closest(
    "pre, svg, [role=tablist], .text-visually-hidden, .skip-link, thead"))
  .filter((element) => element.getBoundingClientRect().width > 2)
  .filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
  .map((element) => element.outerHTML.slice(0, 100))"""


@pytest.fixture(scope="module")
def large_text(browser: Browser, site: Product, chromium: str) -> Iterator[Windows]:
    """Windows of a browser whose text is twice as large, which its settings offer."""
    settings = [*ARGUMENTS, LARGE_TEXT]
    large = browser.browser_type.launch(executable_path=chromium, args=settings)
    with open_windows(large, site.url) as windows:
        yield windows
    large.close()


def test_pages_fit_with_text_twice_as_large(
    large_text: Windows, populated: PopulatedAccount
) -> None:
    state = populated.page.context.storage_state()
    page = large_text.open(url=populated.page.url, storage_state=state)
    for path in (*PUBLIC_PAGES, *MEMBER_PAGES):
        page.goto(path.format(**populated.ids))
        assert page.evaluate(TEXT_SIZE) == "32px"
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
        assert page.evaluate(TOO_WIDE) == [], path
