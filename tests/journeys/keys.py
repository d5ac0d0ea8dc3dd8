"""Steps with API keys: Settings → API Keys → Create Key."""

import re

from playwright.sync_api import Page

from tests.journeys.sign_in import assert_heading


def create_key(page: Page, name: str) -> str:
    """Create a key as the docs describe; end on the page that shows it once, and return it."""
    page.goto("/validation/")
    page.get_by_role("link", name="Settings").click()
    page.get_by_role("link", name="API Keys").click()
    page.get_by_role("button", name="Create Key").click()
    assert_heading(page, "Create Key")
    page.get_by_label("Name").fill(name)
    page.get_by_role("button", name="Create Key").click()
    assert_heading(page, "Your new key")
    return page.locator("#secret").inner_text()


def find_key_id(page: Page, name: str) -> str:
    page.goto("/apikeys/")
    link = page.get_by_role("link", name=f"Revoke {name}").get_attribute("href") or ""
    match = re.search(r"key_\w+", link)
    assert match, link
    return match[0]
