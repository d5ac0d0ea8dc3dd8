"""What people do at the door: sign up, sign in and out, read their mails."""

import re

from playwright.sync_api import Page, expect

from tests.servers.product import Product, text_of

PASSWORD = "correct horse battery"


def sign_up(page: Page, site: Product, email: str) -> None:
    fill_sign_up(page, email)
    page.get_by_label("Code").fill(code_from_mail(site, email))
    page.get_by_role("button", name="Confirm").click()
    assert_heading(page, "Overview")


def fill_sign_up(page: Page, email: str, password: str = PASSWORD) -> None:
    """Sends the form; what comes then is the journey's to say."""
    page.goto("/accounts/signup/")
    page.get_by_label("E-mail").fill(email)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Create account").click()


def sign_in(page: Page, email: str, password: str = PASSWORD) -> None:
    """Sends the form; what comes then is the journey's to say."""
    page.goto("/accounts/login/")
    page.get_by_label("E-mail").fill(email)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in", exact=True).click()


def sign_out(page: Page) -> None:
    page.get_by_role("button", name="Sign out", exact=True).click()
    expect(page.get_by_text("You are signed out.")).to_be_visible()


def assert_heading(page: Page, heading: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text(heading)


def code_from_mail(site: Product, email: str) -> str:
    found = re.search(r"^[A-Z0-9]{3,4}-[A-Z0-9]{3,4}$", text_of(site.newest_mail(email)), re.M)
    assert found, email
    return found[0]


def link_from_mail(site: Product, email: str, subject: str) -> str:
    mail = text_of(site.newest_mail(email, subject))
    # The last line of each mail is the bare address of the product.
    found = re.search(rf"^{re.escape(site.url)}/\S+$", mail, re.M)
    assert found, mail
    return found[0]
