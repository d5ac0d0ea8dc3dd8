import pytest
from playwright.sync_api import Page, expect

from tests.journeys.newcomers import Newcomer
from tests.journeys.sign_in import PASSWORD, assert_heading, link_from_email, sign_in
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


def fill_new_password(page: Page) -> None:
    page.get_by_label("New password", exact=True).fill(NEW_PASSWORD)
    page.get_by_label("Confirm new password").fill(NEW_PASSWORD)
