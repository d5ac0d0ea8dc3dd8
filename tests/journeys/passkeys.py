"""The browser's virtual authenticator, and the steps to add a passkey."""

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


def open_with_device(windows: Windows, site: Product, customer: Newcomer) -> Page:
    """Open a window with a virtual authenticator.

    It uses a host name, because passkeys don't work with IP addresses.
    """
    page = windows.open(customer, url=f"http://localhost:{site.port}")
    devtools = page.context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    devtools.send("WebAuthn.addVirtualAuthenticator", {"options": DEVICE})
    return page


def add_passkey(page: Page, name: str) -> None:
    page.goto("/accounts/2fa/webauthn/add/")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Name").press("Enter")
    page.wait_for_url(lambda url: "/webauthn/add/" not in url)
