"""Using pages without a mouse: every control is reached, and shows that it has the focus."""

import pytest
from playwright.sync_api import Page, expect

from tests.journeys.keys import create_key
from tests.journeys.lists import upload_list
from tests.journeys.purchases import order_pack
from tests.journeys.windows import NARROW, widen
from tests.servers.product import Product

PAGES = [
    *("/", "/docs/", "/docs/validate/", "/docs/errors/", "/docs/api/validation/"),
    *("/docs/api/lists/", "/validation/", "/validation/requests/", "/validation/playground/"),
    *("/lists/create/", "/credits/", "/apikeys/create/", "/accounts/team/", "/credits/packs/"),
    *("/accounts/profile/", "/accounts/security/"),
]
# More than any of these pages has.
MAX_STOPS = 800
CONTROLS = """[...document.querySelectorAll("a[href], button, input, select, textarea, summary")]
  .filter((element) => element.checkVisibility({visibilityProperty: true}))
  .filter((element) => !element.disabled && element.tabIndex >= 0)
  .map((element) => element.outerHTML.slice(0, 100))"""
# The control with the focus, and whether it or its file button has a ring.
FOCUSED = """(() => {
  const element = document.activeElement;
  if (element === document.body) return null;
  const hasRing = (style) => style.boxShadow !== "none"
    || (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0);
  const pseudo = [null, "::after", "::file-selector-button"];
  const ring = pseudo.some((name) => hasRing(getComputedStyle(element, name)));
  return [element.outerHTML.slice(0, 100), ring];
})()"""


@pytest.fixture
def page(member: Page) -> Page:
    return widen(member)


def test_tab_reaches_every_control_and_shows_it(page: Page) -> None:
    for path in PAGES:
        page.goto(path)
        assert_all_reached(page)


@pytest.mark.proof
def test_tab_reaches_every_control_of_an_order_a_list_and_a_key(page: Page, site: Product) -> None:
    order_pack(page)
    assert_all_reached(page)
    upload_list(page, site)
    page.goto("/lists/")
    assert_all_reached(page)
    page.locator(".lists-table .two-line-link").click()
    # Until the next page is there, Tab moves on the table of lists, or nowhere.
    page.wait_for_url("**/lists/lst_*/")
    assert_all_reached(page)
    create_key(page, "Server")
    page.goto("/apikeys/")
    assert_all_reached(page)


def assert_all_reached(page: Page) -> None:
    stops = walk(page)
    missed = set(page.evaluate(CONTROLS)) - stops.keys()
    # Of radio buttons of one group, Tab reaches the checked one.
    assert not {control for control in missed if 'type="radio"' not in control}, page.url
    assert not [control for control, has_ring in stops.items() if not has_ring], page.url


def walk(page: Page) -> dict[str, bool]:
    """Press Tab until the focus leaves the page. Return each control, and if it showed a ring.

    A field for a date has several stops.
    """
    stops: dict[str, bool] = {}
    for _ in range(MAX_STOPS):
        page.keyboard.press("Tab")
        focused = page.evaluate(FOCUSED)
        if focused is None:
            return stops
        control, has_ring = focused
        stops[control] = stops.get(control, True) and has_ring
    pytest.fail(f"Tab doesn't leave {page.url}.")


def test_escape_closes_one_menu_after_the_other(page: Page) -> None:
    page.set_viewport_size({"width": NARROW, "height": 800})
    page.goto("/validation/")
    menu = page.locator(".app-topbar > details")
    menu.locator("> summary").press("Enter")
    switcher = menu.locator(".switcher summary")
    switcher.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    expect(switcher).to_be_focused()
    page.keyboard.press("Escape")
    # The switcher's button has the focus, but its menu is closed already.
    expect(menu.locator("> summary")).to_be_focused()
    expect(switcher).to_be_hidden()
