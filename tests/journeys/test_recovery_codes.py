"""Recovery codes: copied, downloaded, and printed."""

import pytest
from playwright.sync_api import Page, expect

from tests.journeys.authenticator_app import AuthenticatorApp, set_up_authenticator_app
from tests.journeys.newcomers import Newcomers
from tests.journeys.windows import Windows


@pytest.fixture(scope="module")
def page(shared_windows: Windows, newcomers: Newcomers) -> Page:
    return shared_windows.open(newcomers.take(), permissions=["clipboard-read", "clipboard-write"])


@pytest.fixture(scope="module")
def app(page: Page) -> AuthenticatorApp:
    page.goto("/accounts/profile/")
    email = page.locator(".navigation-user").first.inner_text()
    return set_up_authenticator_app(page, email)


def test_only_the_codes_and_their_owner_are_printed(page: Page, app: AuthenticatorApp) -> None:
    expect(page.get_by_role("button", name="Print")).to_be_visible()
    page.emulate_media(media="print")
    printed = page.locator("body").inner_text().split("\n")
    page.emulate_media(media="screen")
    owner = ["Email Validation", f"Recovery codes for {app.email}"]
    assert [line for line in printed if line] == [*owner, *app.recovery_codes]


def test_page_without_javascript_offers_only_what_works(
    page: Page, app: AuthenticatorApp, windows: Windows
) -> None:
    cookies = page.context.storage_state()
    plain = windows.open(java_script_enabled=False, storage_state=cookies)
    plain.goto("/accounts/2fa/recovery-codes/")
    expect(plain.get_by_text(app.recovery_codes[0])).to_be_visible()
    expect(plain.get_by_role("button", name="Download")).to_be_visible()
    for name in ("Copy", "Print"):
        expect(plain.get_by_role("button", name=name)).to_have_count(0)
