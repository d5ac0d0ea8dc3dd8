"""Special states of pages: errors, intermediate steps, an open menu, long names."""

import pytest
from playwright.sync_api import Page, expect

from tests.journeys.findings import assert_no_findings, find_horizontal_scrolling
from tests.journeys.sign_in import assert_heading, fill_sign_up, sign_in
from tests.journeys.teams import invitation_link, invite, rename_account, rename_yourself
from tests.journeys.windows import HEIGHT, NARROW, WIDE
from tests.servers.product import Product

NAMES = {
    "one long word": "W" * 100,
    "many words": "Association for the Advancement of Email " * 2,
    "right to left": "شركة التحقق من صحة عناوين البريد الإلكتروني",
}
PAGES_WITH_NAMES = [
    *("/validation/", "/accounts/profile/", "/accounts/account/close/", "/accounts/account/open/"),
    *("/accounts/team/", "/accounts/audit/"),
]
LONG_ADDRESS = f"{'a' * 60}@{'b' * 60}.example"


def test_sent_forms_of_visitors_have_no_findings(page: Page) -> None:
    sign_in(page, "unknown@states.example")
    expect(page.locator(".errorlist")).to_be_visible()
    assert_no_findings(page)
    fill_sign_up(page, "weak@states.example", "password1234")
    expect(page.locator(".errorlist")).to_be_visible()
    assert_no_findings(page)
    fill_sign_up(page, "halfway@states.example")
    assert_heading(page, "Confirm your email")
    assert_no_findings(page)


def test_a_refused_invitation_has_no_findings(member: Page) -> None:
    member.goto("/accounts/team/")
    member.get_by_label("Email", exact=True).fill(
        member.locator(".app-side .navigation-user").inner_text()
    )
    member.get_by_role("button", name="Send invitation").click()
    expect(member.get_by_text("is already a member of this account.")).to_be_visible()
    assert_no_findings(member)


def test_too_many_attempts_page_has_no_findings(member: Page) -> None:
    member.goto("/accounts/password/change/")
    for _ in range(6):
        for label in ("Current password", "New password", "Confirm new password"):
            member.get_by_label(label, exact=True).fill("a wrong guess")
        with member.expect_navigation():
            member.get_by_role("button", name="Change password").click()
    assert_heading(member, "Too many attempts")
    assert_no_findings(member)


@pytest.mark.parametrize(
    ("width", "menu"),
    [(WIDE, ".app-side .switcher > summary"), (NARROW, ".app-topbar > details > summary")],
)
def test_an_open_menu_has_no_findings(member: Page, width: int, menu: str) -> None:
    member.set_viewport_size({"width": width, "height": HEIGHT})
    member.goto("/validation/")
    member.locator(menu).click()
    assert_no_findings(member, widths=(width,))


@pytest.mark.parametrize(
    "address", ["deliverable@sandbox.test", "rate_limit_exceeded@sandbox.test", "W" * 320]
)
def test_playground_result_has_no_findings(member: Page, address: str) -> None:
    member.goto("/validation/playground/")
    member.get_by_label("Address").fill(address)
    member.get_by_role("button", name="Validate").click()
    for tab in ("JSON", "Headers", "Code"):
        assert_no_findings(member)
        member.get_by_role("tab", name=tab).click()
    assert_no_findings(member)


@pytest.mark.parametrize(
    "lines",
    [
        ["deliverable@sandbox.test", "unknown@sandbox.test", "W" * 320, "مستخدم@مثال.إختبار"],
        ["possible_typo@sandbox.test"] * 2,
        ["address"] * 61,
        ["address"] * 101,
    ],
    ids=["mixed", "duplicate", "beyond the rate limit", "too many"],
)
def test_playground_batch_has_no_findings(member: Page, lines: list[str]) -> None:
    member.goto("/validation/playground/batch/")
    member.get_by_label("Addresses").fill("\n".join(lines))
    member.get_by_role("button", name="Validate addresses").click()
    assert_no_findings(member)


def test_erasure_confirmation_has_no_findings(member: Page) -> None:
    for address in ("erased@sandbox.test", f"{'w' * 300}@sandbox.test"):
        member.goto("/validation/playground/")
        member.get_by_label("Address").fill(address)
        member.get_by_role("button", name="Validate").click()
        member.goto("/validation/data/")
        member.get_by_label("Address").fill(address)
        member.get_by_role("button", name="Preview erasure").click()
        expect(member.get_by_text("This deletes 1 request")).to_be_visible()
        assert_no_findings(member)
    member.get_by_role("button", name="Erase address").click()
    expect(member.get_by_text("Erased w***.")).to_be_visible()


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_long_name_does_not_cause_horizontal_scrolling(member: Page, name: str) -> None:
    rename_account(member, name)
    rename_yourself(member, name)
    assert_no_horizontal_scrolling(member, PAGES_WITH_NAMES)


def test_long_address_does_not_cause_horizontal_scrolling(member: Page, site: Product) -> None:
    invite(member, LONG_ADDRESS)
    link = invitation_link(site, LONG_ADDRESS)
    assert_no_horizontal_scrolling(member, [link, "/accounts/team/"])


def assert_no_horizontal_scrolling(page: Page, paths: list[str]) -> None:
    findings = {}
    for path in paths:
        page.goto(path)
        findings[path] = find_horizontal_scrolling(page, WIDE) + find_horizontal_scrolling(
            page, NARROW
        )
    assert not any(findings.values()), findings
