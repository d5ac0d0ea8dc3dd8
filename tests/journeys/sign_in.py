"""Steps around sign-in: sign up, sign in and out, read emails."""

import re

from playwright.sync_api import Page, expect

from tests.servers.product import Product, plain_text

PASSWORD = "correct horse battery"
# On a busy machine, the worker may only be starting.
EMAIL_SECONDS = 60


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
    """Check which page is shown, and wait until its scripts have run."""
    expect(page.get_by_role("heading", level=1)).to_have_text(heading)
    page.wait_for_load_state()


def wait_for_heading(page: Page, heading: str) -> None:
    """Wait for the next page in a step that fixtures use: for longer than an assertion does."""
    text = re.compile(rf"^\s*{re.escape(heading)}\s*$")
    page.get_by_role("heading", level=1).filter(has_text=text).wait_for()
    page.wait_for_load_state()


def code_from_email(site: Product, email: str) -> str:
    text = plain_text(site.wait_for_email(email, seconds=EMAIL_SECONDS))
    match = re.search(r"^[A-Z0-9]{3,4}-[A-Z0-9]{3,4}$", text, re.M)
    assert match, email
    return match[0]


def link_from_email(site: Product, email: str, subject: str) -> str:
    text = plain_text(site.wait_for_email(email, subject, EMAIL_SECONDS))
    # The last line of every email is the product's URL without a path.
    match = re.search(rf"^{re.escape(site.url)}/\S+$", text, re.M)
    assert match, text
    return match[0]
