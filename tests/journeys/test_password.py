from playwright.sync_api import Page, expect

from tests.journeys.findings import assert_no_findings
from tests.journeys.newcomers import Newcomer
from tests.journeys.sign_in import PASSWORD, assert_heading, link_from_email, sign_in
from tests.servers.product import Product

NEW_PASSWORD = "a brand new battery"


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


def test_a_button_shows_the_password_until_the_form_is_sent(page: Page) -> None:
    page.goto("/accounts/login/")
    password = page.get_by_label("Password")
    page.get_by_label("Email", exact=True).fill("jane@shop.example")
    password.fill("not my password")
    show = page.get_by_role("button", name="Show password")
    password.press("Tab")
    expect(show).to_be_focused()
    show.press("Enter")
    expect(show).to_have_attribute("aria-pressed", "true")
    expect(password).to_have_attribute("type", "text")
    expect(password).to_have_attribute("autocomplete", "current-password")
    assert_no_findings(page)
    sent = "document.forms[0].addEventListener('submit', () => console.log(password.type))"
    page.evaluate(f"const password = document.querySelector('[name=password]'); {sent}")
    with page.expect_console_message(lambda message: message.text == "password"):
        password.press("Enter")
    expect(page.get_by_text("is incorrect")).to_be_visible()
