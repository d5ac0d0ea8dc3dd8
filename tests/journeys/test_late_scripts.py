"""Scripts show what works only with them, and the page never moves for it."""

import pytest
from playwright.sync_api import Page

from tests.journeys.findings import PAINT, find_layout_shift
from tests.journeys.newcomers import Newcomers
from tests.journeys.populated_account import populate_account
from tests.journeys.test_pages import MEMBER_PAGES, PUBLIC_PAGES
from tests.journeys.windows import NARROW, Windows
from tests.servers.product import Product

# About a hundred pages, each of which is painted twice.
pytestmark = [pytest.mark.proof, pytest.mark.timeout(180)]

SCRIPTS = "**/*.js"


def test_pages_stay_in_place_when_scripts_arrive_late(
    shared_windows: Windows, site: Product, newcomers: Newcomers
) -> None:
    populated = populate_account(shared_windows, site, newcomers.take())
    # The docs are painted after their scripts.
    public_pages = [path for path in PUBLIC_PAGES if not path.startswith("/docs/")]
    for page, paths in [
        (populated.page, MEMBER_PAGES),
        (shared_windows.open(), public_pages),
    ]:
        page.set_viewport_size({"width": NARROW, "height": 800})
        urls = [path.format(**populated.ids) for path in paths]
        shifts = {url: _find_shift_with_late_scripts(page, url) for url in urls}
        assert not any(shifts.values()), {url: shift for url, shift in shifts.items() if shift}


def _find_shift_with_late_scripts(page: Page, url: str) -> float:
    """Show the page without its scripts, then deliver them."""
    page.route(SCRIPTS, lambda route: None)
    page.goto(url, wait_until="commit")
    page.locator("h1").first.wait_for()
    page.evaluate(PAINT)
    # Delivers the held scripts.
    with page.expect_event("load"):
        page.unroute(SCRIPTS)
    page.evaluate(PAINT)
    return find_layout_shift(page)
