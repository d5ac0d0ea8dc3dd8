import pytest
from playwright.sync_api import Page, expect

from tests.journeys.newcomers import Newcomer
from tests.journeys.sign_in import PASSWORD, assert_heading, link_from_email, sign_in
from tests.journeys.windows import Windows
from tests.servers.product import Product

NEW_PASSWORD = "a brand new battery"


@pytest.mark.main_path
def test_link_in_the_email_resets_the_password_once(
    page: Page, site: Product, newcomer: Newcomer
) -> None:
    page.goto("/accounts/password/reset/")
    page.get_by_label("Email", exact=True).fill(newcomer.email)
    page.get_by_role("button", name="Send reset link").click()
    assert_heading(page, "Check your email")

    link = link_from_email(site, newcomer.email, "Reset your password")
    page.goto(link)
    fill_new_password(page)
    page.get_by_role("button", name="Save password").click()
    assert_heading(page, "Your password was reset")

    page.goto(link)
    assert_heading(page, "This link no longer works")
    sign_in(page, newcomer.email, PASSWORD)
    expect(page.get_by_text("is incorrect")).to_be_visible()
    sign_in(page, newcomer.email, NEW_PASSWORD)
    assert_heading(page, "Overview")


def test_one_click_ends_all_other_sessions(windows: Windows, newcomer: Newcomer) -> None:
    here, elsewhere = sign_in_twice(windows, newcomer)
    here.goto("/accounts/sessions/")
    expect(here.get_by_role("row")).to_have_count(3)
    here.get_by_role("button", name="Sign out everywhere else").click()
    expect(here.get_by_role("row")).to_have_count(2)
    expect_signed_out(elsewhere)


def test_changing_the_password_ends_all_other_sessions(
    windows: Windows, newcomer: Newcomer
) -> None:
    here, elsewhere = sign_in_twice(windows, newcomer)
    here.goto("/accounts/password/change/")
    here.get_by_label("Current password").fill(PASSWORD)
    fill_new_password(here)
    here.get_by_role("button", name="Change password").click()
    expect(here.get_by_role("status")).to_contain_text("password")

    expect_signed_out(elsewhere)
    here.goto("/validation/")
    assert_heading(here, "Overview")


def sign_in_twice(windows: Windows, newcomer: Newcomer) -> tuple[Page, Page]:
    """Sign in the same customer in two browsers."""
    here, elsewhere = windows.open(newcomer), windows.open()
    sign_in(elsewhere, newcomer.email)
    assert_heading(elsewhere, "Overview")
    return here, elsewhere


def fill_new_password(page: Page) -> None:
    page.get_by_label("New password", exact=True).fill(NEW_PASSWORD)
    page.get_by_label("Confirm new password").fill(NEW_PASSWORD)


def expect_signed_out(page: Page) -> None:
    page.goto("/validation/")
    assert_heading(page, "Sign in")
