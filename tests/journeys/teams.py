"""Steps with teams: rename and invite."""

from playwright.sync_api import Page

from tests.journeys.sign_in import link_from_email
from tests.servers.product import Product


def rename_account(page: Page, name: str) -> None:
    page.goto("/accounts/profile/")
    page.get_by_label("Account name").fill(name)
    page.get_by_role("button", name="Rename").click()
    page.get_by_text("The account's name was saved.").wait_for()


def rename_yourself(page: Page, name: str) -> None:
    page.goto("/accounts/profile/")
    page.get_by_label("Your name").fill(name)
    page.get_by_role("button", name="Save name").click()
    page.get_by_text("Your name was saved.").wait_for()


def invite(page: Page, email: str, role: str = "Developer") -> None:
    page.goto("/accounts/team/")
    page.get_by_label("Email", exact=True).fill(email)
    page.get_by_label("Role", exact=True).select_option(role)
    page.get_by_role("button", name="Send invitation").click()
    page.get_by_text(f"Invitation sent to {email}.").wait_for()


def invitation_link(site: Product, email: str) -> str:
    return link_from_email(site, email, "invited you to")
