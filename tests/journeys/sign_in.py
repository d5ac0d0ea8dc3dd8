"""Steps around sign-in: sign up, sign in and out, read emails."""

import re

from playwright.sync_api import Page, expect

from tests.servers.product import Product, plain_text

PASSWORD = "correct horse battery"


def sign_up(page: Page, site: Product, email: str) -> None:
    fill_sign_up(page, email)
    page.get_by_label("Code").fill(code_from_email(site, email))
    page.get_by_role("button", name="Confirm email").click()
    assert_heading(page, "Overview")


def fill_sign_up(page: Page, email: str, password: str = PASSWORD) -> None:
    """Send the sign-up form. The journey checks the result."""
    page.goto("/accounts/signup/")
    page.get_by_label("Email", exact=True).fill(email)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Create account").click()


def sign_in(page: Page, email: str, password: str = PASSWORD) -> None:
    """Send the sign-in form. The journey checks the result."""
    page.goto("/accounts/login/")
    page.get_by_label("Email", exact=True).fill(email)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in", exact=True).click()


def sign_out(page: Page) -> None:
    page.get_by_role("button", name="Sign out", exact=True).click()
    expect(page.get_by_text("You're signed out.")).to_be_visible()


def assert_heading(page: Page, heading: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text(heading)


def code_from_email(site: Product, email: str) -> str:
    match = re.search(
        r"^[A-Z0-9]{3,4}-[A-Z0-9]{3,4}$", plain_text(site.wait_for_email(email)), re.M
    )
    assert match, email
    return match[0]


def link_from_email(site: Product, email: str, subject: str) -> str:
    text = plain_text(site.wait_for_email(email, subject))
    # The last line of every email is the product's URL without a path.
    match = re.search(rf"^{re.escape(site.url)}/\S+$", text, re.M)
    assert match, text
    return match[0]
