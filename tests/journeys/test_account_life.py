from playwright.sync_api import Page, expect

from tests.journeys.newcomers import Newcomer
from tests.journeys.sign_in import assert_heading, sign_in
from tests.journeys.teams import rename_account
from tests.journeys.windows import Windows


def test_account_is_closed_by_typing_its_name(windows: Windows, newcomer: Newcomer) -> None:
    page = windows.open(newcomer)
    rename_account(page, "Short Life")
    page.goto("/accounts/account/close/")
    type_account_name(page, "Long Life")
    expect(page.get_by_text("The name doesn't match.")).to_be_visible()
    type_account_name(page, "Short Life")
    assert_heading(page, "Account closed")

    sign_in(page, newcomer.email, "not the password")
    expect(page.get_by_text("is incorrect")).to_be_visible()
    sign_in(page, newcomer.email)
    assert_heading(page, "Account closed")


def type_account_name(page: Page, name: str) -> None:
    page.get_by_label("to confirm").fill(name)
    page.get_by_role("button", name="Close account").click()
