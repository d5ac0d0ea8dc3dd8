"""An authenticator app (RFC 6238) and its setup in the browser."""

import base64
import hmac
import time
from dataclasses import dataclass

from playwright.sync_api import Page

from tests.journeys.sign_in import wait_for_heading

PERIOD_SECONDS = 30
# Wait for the next code if the current one may expire before it is submitted.
TYPING_SECONDS = 10


@dataclass
class AuthenticatorApp:
    email: str
    secret: str
    recovery_codes: list[str]

    def current_code(self) -> str:
        remaining = PERIOD_SECONDS - time.time() % PERIOD_SECONDS
        if remaining < TYPING_SECONDS:
            time.sleep(remaining)
        return code_at(self.secret, time.time())


def set_up_authenticator_app(page: Page, email: str) -> AuthenticatorApp:
    """Set up an app for the user who is signed in on the page."""
    page.goto("/accounts/2fa/totp/activate/")
    app = AuthenticatorApp(email, page.get_by_label("enter this secret").input_value(), [])
    page.get_by_label("Authenticator code").fill(app.current_code())
    page.get_by_role("button", name="Turn on").click()
    wait_for_heading(page, "Recovery codes")
    app.recovery_codes = page.locator("#recovery_codes").inner_text().split()
    assert app.recovery_codes
    return app


def code_at(secret: str, timestamp: float) -> str:
    counter = int(timestamp) // PERIOD_SECONDS
    digest = hmac.digest(base64.b32decode(secret), counter.to_bytes(8, "big"), "sha1")
    # RFC 4226, section 5.3: the last four bits are the offset of the 31-bit code.
    offset = digest[-1] & 0x0F
    number = int.from_bytes(digest[offset : offset + 4], "big") & 0x7FFFFFFF
    return f"{number % 1_000_000:06}"
