import pytest
from playwright.sync_api import Locator, Page, expect

from tests.journeys.newcomers import Newcomer
from tests.journeys.sign_in import assert_heading, sign_in
from tests.journeys.teams import invite, rename_account
from tests.journeys.windows import NARROW, Windows


@pytest.fixture
def page(windows: Windows) -> Page:
    """A page on a phone without JavaScript."""
    return windows.open(java_script_enabled=False, width=NARROW)


@pytest.mark.main_path
def test_forms_and_menus_work_without_javascript(page: Page, newcomer: Newcomer) -> None:
    sign_in(page, newcomer.email)
    assert_heading(page, "Overview")
    rename_account(page, "First Hat")
    invite(page, "colleague@no-script.example")

    page.goto("/accounts/account/open/")
    page.get_by_label("Account name").fill("Second Hat")
    page.get_by_role("button", name="Open account").click()
    expect(topbar_menu(page)).to_contain_text("Second Hat")

    topbar_menu(page).click()
    page.locator(".app-topbar .switcher > summary").click()
    page.get_by_role("button", name="First Hat").click()
    expect(topbar_menu(page)).to_contain_text("First Hat")

    topbar_menu(page).click()
    page.get_by_role("link", name="Team").click()
    expect(page.get_by_text("colleague@no-script.example")).to_be_visible()


def topbar_menu(page: Page) -> Locator:
    return page.locator(".app-topbar > details > summary")
