"""Steps with API keys."""

from playwright.sync_api import Page

from tests.journeys.sign_in import wait_for_heading


def open_form_through_settings(page: Page) -> None:
    """Click through to the form for a key, as the docs describe."""
    page.goto("/validation/")
    page.get_by_role("link", name="Settings").click()
    page.get_by_role("link", name="API Keys").click()
    page.get_by_role("button", name="Create Key").click()
    wait_for_heading(page, "Create Key")


def create_key(page: Page, name: str) -> str:
    """Create a key; end on the page that shows it once, and return it."""
    page.goto("/apikeys/create/")
    return fill_key_form(page, name)


def fill_key_form(page: Page, name: str) -> str:
    page.get_by_label("Name").fill(name)
    page.get_by_role("button", name="Create Key").click()
    wait_for_heading(page, "Your new key")
    return page.locator("#secret").inner_text()
