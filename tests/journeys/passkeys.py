"""A device that holds passkeys, invented by the browser, and how one is added to it."""

from playwright.sync_api import Page

from tests.journeys.newcomers import Newcomer
from tests.journeys.windows import Windows
from tests.servers.product import Product

DEVICE = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
}


def open_with_device(windows: Windows, site: Product, who: Newcomer) -> Page:
    """A passkey belongs to a host's name; an IP address has none."""
    page = windows.open(who, url=f"http://localhost:{site.port}")
    devtools = page.context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    devtools.send("WebAuthn.addVirtualAuthenticator", {"options": DEVICE})
    return page


def add_passkey(page: Page, name: str) -> None:
    page.goto("/accounts/2fa/webauthn/add/")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Name").press("Enter")
    page.wait_for_url(lambda url: "/webauthn/add/" not in url)
