"""Every page, wide and narrow, light and dark. See findings.py for the checks."""

import pytest
from playwright.sync_api import Page

from reference.docs.pages import PAGES
from tests.journeys.findings import (
    PAINT,
    assert_no_findings,
    assert_skip_link_first,
    find_layout_shift,
)
from tests.journeys.newcomers import Newcomers
from tests.journeys.populated_account import PopulatedAccount
from tests.journeys.windows import HEIGHT, NARROW, WIDE, Windows

PUBLIC_PAGES = [
    "/",
    "/reference/try/",
    "/domains/",
    "/domains/gmail.com",
    "/domains/no%20domain",
    "/status/",
    "/security/",
    "/accounts/login/",
    "/accounts/signup/",
    "/accounts/password/reset/",
    "/accounts/password/reset/done/",
    "/accounts/password/reset/key/mistyped-link/",
    "/accounts/password/reset/key/done/",
    "/accounts/inactive/",
    "/accounts/account/closed/",
    "/accounts/terms/",
    "/accounts/privacy/",
    "/accounts/data-processing/",
    "/accounts/invitations/a-link-that-is-not-the-one-we-had-sent-you-/",
    "/accounts/invitations/{invitation}/",
    *(f"/docs/{page.path}" for page in PAGES),
    "/no-such-page/",
]
MEMBER_PAGES = [
    "/",
    "/validation/",
    "/validation/requests/",
    "/validation/requests/{success}/",
    "/validation/requests/{refused}/",
    "/validation/results/{result}/feedback/",
    "/validation/usage/",
    "/validation/usage/?range=24h",
    "/validation/playground/",
    "/validation/playground/batch/",
    "/lists/",
    "/lists/create/",
    "/lists/{list}/",
    "/lists/?q=nothing",
    "/lists/{list}/rename/",
    "/lists/{list}/delete/",
    "/validation/domains/",
    "/accounts/profile/",
    "/accounts/account/open/",
    "/accounts/account/close/",
    "/accounts/email/",
    "/accounts/team/",
    "/accounts/team/members/{member}/remove/",
    "/accounts/notifications/",
    "/accounts/security/",
    "/accounts/audit/",
    "/accounts/audit/?what=billing&until=2020-01-01",
    "/accounts/audit/?who=unknown&since=2026-02-02&until=2026-02-01",
    "/validation/data/",
    "/accounts/password/change/",
    "/accounts/sessions/",
    "/accounts/2fa/",
    "/accounts/2fa/totp/deactivate/",
    "/accounts/2fa/recovery-codes/",
    "/accounts/2fa/recovery-codes/generate/",
    "/accounts/2fa/webauthn/",
    "/accounts/2fa/webauthn/add/",
    "/accounts/2fa/webauthn/keys/{passkey}/edit/",
    "/accounts/2fa/webauthn/keys/{passkey}/remove/",
    "/accounts/reauthenticate/",
    "/accounts/2fa/reauthenticate/",
    "/accounts/2fa/webauthn/reauthenticate/",
    "/accounts/invitations/{invitation}/",
    "/accounts/logout/",
    "/apikeys/",
    "/apikeys/create/",
    "/apikeys/{key}/change/",
    "/apikeys/{key}/rotate/",
    "/apikeys/{key}/revoke/",
    "/accounts/webhooks/",
    "/accounts/webhooks/create/",
    "/accounts/webhooks/{endpoint}/",
    "/accounts/webhooks/{endpoint}/?state=failed",
    "/accounts/webhooks/{endpoint}/change/",
    "/accounts/webhooks/{endpoint}/rotate/",
    "/accounts/webhooks/{endpoint}/delete/",
    "/accounts/webhooks/{endpoint}/replay/",
    "/accounts/webhooks/{endpoint}/deliveries/{delivery}/",
    "/credits/",
    "/credits/ledger/",
    "/credits/packs/",
    "/credits/packs/{pack}/",
    "/credits/plans/",
    "/credits/plans/growth/",
    "/credits/plans/free/later/",
    "/credits/orders/",
    "/credits/orders/{order}/",
    "/credits/orders/{order}/invoice/",
    "/reference/search/?q=list",
    "/no-such-page/",
]
SCRIPTS = "**/*.js"
EMPTY_PAGES = [
    "/validation/",
    "/validation/requests/",
    "/validation/usage/",
    "/lists/",
    "/apikeys/",
    "/accounts/webhooks/",
    "/credits/",
    "/credits/ledger/",
    "/credits/orders/",
    "/accounts/team/",
    "/accounts/security/",
    "/accounts/audit/",
    "/validation/data/",
    "/accounts/2fa/",
    "/accounts/2fa/totp/activate/",
    "/accounts/2fa/webauthn/",
]


@pytest.fixture(scope="module")
def visitor(shared_windows: Windows) -> Page:
    return shared_windows.open()


@pytest.fixture(scope="module")
def new_customer(shared_windows: Windows, newcomers: Newcomers) -> Page:
    return shared_windows.open(newcomers.take())


@pytest.mark.parametrize("path", PUBLIC_PAGES)
def test_public_page_has_no_findings(
    visitor: Page, populated: PopulatedAccount, shared_windows: Windows, path: str
) -> None:
    visitor.goto(path.format(**populated.ids))
    assert find_layout_shift(visitor) == 0
    assert_skip_link_first(visitor)
    assert_no_findings(visitor)
    assert not shared_windows.take_console_errors()


@pytest.mark.parametrize("path", MEMBER_PAGES)
def test_member_page_has_no_findings(populated: PopulatedAccount, path: str) -> None:
    populated.page.goto(path.format(**populated.ids))
    assert find_layout_shift(populated.page) == 0
    assert_skip_link_first(populated.page)
    assert_no_findings(populated.page)
    assert not populated.windows.take_console_errors()


@pytest.mark.parametrize("path", EMPTY_PAGES)
def test_empty_page_has_no_findings(new_customer: Page, path: str) -> None:
    new_customer.goto(path)
    assert find_layout_shift(new_customer) == 0
    assert_no_findings(new_customer)


@pytest.mark.timeout(240)
def test_pages_stay_in_place_when_scripts_arrive_late(
    visitor: Page, populated: PopulatedAccount
) -> None:
    # The docs are painted after their scripts.
    public = [path for path in PUBLIC_PAGES if not path.startswith("/docs/")]
    for page, paths in ((populated.page, MEMBER_PAGES), (visitor, public)):
        page.set_viewport_size({"width": NARROW, "height": HEIGHT})
        urls = [path.format(**populated.ids) for path in paths]
        shifts = {url: find_shift_with_late_scripts(page, url) for url in urls}
        page.set_viewport_size({"width": WIDE, "height": HEIGHT})
        assert not any(shifts.values()), {url: shift for url, shift in shifts.items() if shift}


def find_shift_with_late_scripts(page: Page, url: str) -> float:
    """Show the page without its scripts, then deliver them."""
    page.route(SCRIPTS, lambda route: None)
    page.goto(url, wait_until="commit")
    page.locator("h1").first.wait_for()
    page.evaluate(PAINT)
    # Delivers the held scripts.
    with page.expect_event("load"):
        page.unroute(SCRIPTS)
    page.evaluate(PAINT)
    return find_layout_shift(page)
