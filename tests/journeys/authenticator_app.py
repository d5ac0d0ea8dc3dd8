"""An authenticator app, as RFC 6238 has it."""

import base64
import hmac
import time
from dataclasses import dataclass

from playwright.sync_api import Page

from tests.journeys.people import assert_heading

PERIOD_SECONDS = 30
# A code that is typed in the last moment of its period is refused in the next.
TYPING_SECONDS = 3


@dataclass
class AuthenticatorApp:
    email: str
    secret: str
    recovery_codes: list[str]

    def code_now(self) -> str:
        left = PERIOD_SECONDS - time.time() % PERIOD_SECONDS
        if left < TYPING_SECONDS:
            time.sleep(left)
        return code_at(self.secret, time.time())


def set_up(page: Page, email: str) -> AuthenticatorApp:
    """For whom the page is signed in."""
    page.goto("/accounts/2fa/totp/activate/")
    app = AuthenticatorApp(email, page.get_by_label("type this secret").input_value(), [])
    page.get_by_label("Authenticator code").fill(app.code_now())
    page.get_by_role("button", name="Turn it on").click()
    assert_heading(page, "Recovery codes")
    app.recovery_codes = page.get_by_label("Unused codes").input_value().split()
    assert app.recovery_codes
    return app


def code_at(secret: str, moment: float) -> str:
    counter = int(moment) // PERIOD_SECONDS
    digest = hmac.digest(base64.b32decode(secret), counter.to_bytes(8, "big"), "sha1")
    # RFC 4226, 5.3: the last four bits say where the 31 bits of the code begin.
    start = digest[-1] & 0x0F
    number = int.from_bytes(digest[start : start + 4], "big") & 0x7FFFFFFF
    return f"{number % 1_000_000:06}"
