"""Every page of the URL table, wide and narrow, light and dark. See findings.py for the checks."""

import pytest
from playwright.sync_api import Page

from tests.journeys.findings import (
    PAINT,
    assert_no_findings,
    assert_skip_link_first,
    find_layout_shift,
)
from tests.journeys.populated_account import PopulatedAccount
from tests.journeys.windows import HEIGHT, NARROW, WIDE, Windows
from tests.site.test_every_page import OPEN, PAGES

ROUTES = {page.route: page for page in PAGES if not page.is_admin}
DOCS = [route for route in ROUTES if route.startswith("docs/")]
PUBLIC_PAGES = [
    *(*DOCS, *(route for route in ROUTES if route in OPEN)),
    *("domains/no%20domain", "no-such-page/"),
]
MEMBER_PAGES = [
    *(route for route in ROUTES if route not in {*OPEN, *DOCS}),
    *("", "accounts/invitations/<token:token>/", "accounts/logout/", "no-such-page/"),
    *("validation/requests/{refused}/", "validation/usage/?range=24h", "lists/{ready}/"),
    *("lists/?q=nothing", "accounts/webhooks/{webhook_id}/?state=failed"),
    "accounts/audit/?what=billing&until=2020-01-01",
    "accounts/audit/?who=unknown&since=2026-02-02&until=2026-02-01",
    *("reference/search/?q=list", "credits/plans/free/later/"),
]
EMPTY_PAGES = [
    *("validation/", "validation/requests/", "validation/usage/", "validation/data/", "lists/"),
    *("apikeys/", "accounts/webhooks/", "credits/", "credits/ledger/", "credits/orders/"),
    *("accounts/team/", "accounts/security/", "accounts/audit/", "accounts/2fa/totp/activate/"),
    *("accounts/2fa/webauthn/", "accounts/reauthenticate/"),
]
SCRIPTS = "**/*.js"


@pytest.fixture(scope="module")
def visitor(shared_windows: Windows) -> Page:
    return shared_windows.open()


def find_path(page: Page, route: str, ids: dict[str, str]) -> str:
    """Return the path, or nothing if the route only redirects, downloads or accepts forms."""
    path = ROUTES[route].path(ids) if route in ROUTES else "/" + route.format(**ids)
    response = page.request.get(path, max_redirects=0)
    # What only accepts a form responds 405 with a page.
    is_page = response.status != 405 and "</html>" in response.text()
    return path if is_page else ""


def assert_page_has_no_findings(page: Page, windows: Windows, path: str) -> None:
    page.goto(path)
    assert find_layout_shift(page) == 0
    assert_skip_link_first(page)
    assert_no_findings(page)
    assert not windows.take_console_errors()


@pytest.mark.parametrize("route", PUBLIC_PAGES)
def test_public_page_has_no_findings(
    visitor: Page, populated: PopulatedAccount, shared_windows: Windows, route: str
) -> None:
    if path := find_path(visitor, route, populated.ids):
        assert_page_has_no_findings(visitor, shared_windows, path)


@pytest.mark.parametrize("route", MEMBER_PAGES)
def test_member_page_has_no_findings(populated: PopulatedAccount, route: str) -> None:
    if path := find_path(populated.page, route, populated.ids):
        assert_page_has_no_findings(populated.page, populated.windows, path)


@pytest.mark.parametrize("path", EMPTY_PAGES)
def test_empty_page_has_no_findings(member: Page, path: str) -> None:
    member.goto(f"/{path}")
    assert find_layout_shift(member) == 0
    assert_no_findings(member)


@pytest.mark.timeout(240)
def test_pages_stay_in_place_when_scripts_arrive_late(
    visitor: Page, populated: PopulatedAccount
) -> None:
    # The docs are painted after their scripts.
    public = [route for route in PUBLIC_PAGES if route not in DOCS]
    for page, routes in ((populated.page, MEMBER_PAGES), (visitor, public)):
        paths = [path for route in routes if (path := find_path(page, route, populated.ids))]
        assert len(paths) > 15
        page.set_viewport_size({"width": NARROW, "height": HEIGHT})
        shifts = {path: find_shift_with_late_scripts(page, path) for path in paths}
        page.set_viewport_size({"width": WIDE, "height": HEIGHT})
        assert not any(shifts.values()), {path: shift for path, shift in shifts.items() if shift}


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
