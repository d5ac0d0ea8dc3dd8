"""The table of lists: filters, menus, and deletion of several, with and without JavaScript."""

import pytest
from playwright.sync_api import Page, expect

from tests.journeys.findings import assert_no_findings
from tests.journeys.newcomers import Newcomer
from tests.journeys.windows import NARROW, WIDE, Windows
from tests.servers.keys import manage
from tests.servers.product import Product

PAGE = "/lists/"
NAMES = ["May customers", "W" * 100, "شركة التحقق من صحة عناوين البريد الإلكتروني", "June"]
_CREATE = """
from accounts.models import Account
account = Account.objects.get(memberships__user__email={email!r})
for name, state in zip({names!r}, ["completed", "running", "failed", "ready"]):
    account.lists.create(name=name, state=state, rows=10_000_000, addresses=10_000_000)
"""


def create_lists(site: Product, newcomer: Newcomer) -> None:
    code = _CREATE.format(email=newcomer.email, names=NAMES)
    manage(site, "shell", "--no-imports", "-c", code)


@pytest.fixture
def page(windows: Windows, site: Product, newcomer: Newcomer) -> Page:
    create_lists(site, newcomer)
    page = windows.open(newcomer)
    page.goto(PAGE)
    return page


def test_list_is_found_and_renamed_by_keyboard(page: Page) -> None:
    # From 860 pixels, the navigation is a column of its own; below 640, rows have two lines.
    assert_no_findings(page, widths=(WIDE, 870, 650, NARROW))
    page.get_by_label("Name").fill("may")
    page.keyboard.press("Enter")
    expect(page.locator(".lists-table tbody tr")).to_have_count(1)
    expect(page).to_have_url("/lists/?q=may")
    page.wait_for_load_state()
    menu = page.get_by_label("Actions for May customers")
    menu.press("Enter")
    assert_no_findings(page)
    page.keyboard.press("Escape")
    expect(menu).to_be_focused()
    menu.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/rename/")
    page.get_by_label("Name").fill("May leads")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Renamed to May leads.")).to_be_visible()


def test_row_opens_its_list(page: Page) -> None:
    # The row's link covers the cell.
    page.locator("tr", has_text="June").locator(".two-line-time").click(force=True)
    expect(page.get_by_role("heading", name="June")).to_be_visible()


def test_selection_has_no_findings(page: Page) -> None:
    for name in NAMES[:2]:
        page.get_by_label(f"Select {name}").check()
    assert_no_findings(page)
    page.get_by_role("button", name="Delete selected").click()
    expect(page.get_by_role("heading", name="Delete 2 lists?")).to_be_visible()
    assert_no_findings(page)
