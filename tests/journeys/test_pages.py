"""Every page, wide and narrow, light and dark. What is looked for: findings.py."""

import pytest
from playwright.sync_api import Page

from tests.journeys.findings import assert_no_findings, assert_skip_link_first
from tests.journeys.newcomers import Newcomers
from tests.journeys.settled import Settled, settle
from tests.journeys.windows import Windows
from tests.servers.product import Product
from validation.docs.pages import PAGES

# They take as long as all other journeys together.
pytestmark = pytest.mark.proof

FOR_EVERYBODY = [
    "/",
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
FOR_MEMBERS = [
    "/",
    "/validation/",
    "/validation/requests/",
    "/validation/requests/{answered}/",
    "/validation/requests/{refused}/",
    "/validation/usage/",
    "/validation/usage/?range=24h",
    "/validation/playground/",
    "/accounts/profile/",
    "/accounts/account/open/",
    "/accounts/account/close/",
    "/accounts/email/",
    "/accounts/team/",
    "/accounts/team/members/{member}/remove/",
    "/accounts/security/",
    "/accounts/audit/",
    "/accounts/audit/?what=billing&until=2020-01-01",
    "/accounts/audit/?who=nobody&since=2026-02-02&until=2026-02-01",
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
    "/no-such-page/",
]
WITH_NOTHING_YET = [
    "/validation/",
    "/validation/requests/",
    "/validation/usage/",
    "/apikeys/",
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
def settled(lasting_windows: Windows, site: Product, newcomers: Newcomers) -> Settled:
    return settle(lasting_windows, site, newcomers.take())


@pytest.fixture(scope="module")
def stranger(lasting_windows: Windows) -> Page:
    return lasting_windows.open()


@pytest.fixture(scope="module")
def beginner(lasting_windows: Windows, newcomers: Newcomers) -> Page:
    return lasting_windows.open(newcomers.take())


@pytest.mark.parametrize("path", FOR_EVERYBODY)
def test_a_page_for_everybody_has_no_findings(
    stranger: Page, settled: Settled, lasting_windows: Windows, path: str
) -> None:
    stranger.goto(path.format(**settled.places))
    assert_skip_link_first(stranger)
    assert_no_findings(stranger)
    assert not lasting_windows.take_complaints()


@pytest.mark.parametrize("path", FOR_MEMBERS)
def test_a_page_for_members_has_no_findings(
    settled: Settled, lasting_windows: Windows, path: str
) -> None:
    settled.page.goto(path.format(**settled.places))
    assert_skip_link_first(settled.page)
    assert_no_findings(settled.page)
    assert not lasting_windows.take_complaints()


@pytest.mark.parametrize("path", WITH_NOTHING_YET)
def test_a_page_with_nothing_on_it_yet_has_no_findings(beginner: Page, path: str) -> None:
    beginner.goto(path)
    assert_no_findings(beginner)
