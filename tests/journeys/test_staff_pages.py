"""The admin uses Django's scripts and styles, which our content security policy must allow."""

import pytest
from playwright.sync_api import Page, expect

from tests.journeys.findings import assert_no_findings
from tests.journeys.purchases import open_as_staff
from tests.journeys.sign_in import assert_heading
from tests.journeys.windows import HEIGHT, WIDE, Windows
from tests.servers.product import Product
from tests.support.pages import all_pages

# From the URL configuration: every change list and every add form.
LISTS = [
    page.route.removeprefix("admin/").rstrip("/")
    for page in all_pages().values()
    if page.is_admin and page.name.endswith(("_changelist", "_add", "logentry_find"))
]


@pytest.fixture(scope="module")
def staff(shared_windows: Windows, site: Product) -> Page:
    return open_as_staff(shared_windows, site)


@pytest.mark.parametrize("model", LISTS)
def test_list_and_its_first_row_have_no_findings_and_no_console_errors(
    staff: Page, shared_windows: Windows, model: str
) -> None:
    staff.set_viewport_size({"width": WIDE, "height": HEIGHT})
    staff.goto(f"/admin/{model}/")
    assert not shared_windows.take_console_errors()
    assert_no_findings(staff)
    shared_windows.take_console_errors()
    staff.set_viewport_size({"width": WIDE, "height": HEIGHT})
    entry = staff.locator("#result_list tbody a").first
    if entry.count():
        staff.goto(entry.get_attribute("href") or "")
    assert not shared_windows.take_console_errors()


def test_scripts_of_admin_forms_work_under_the_content_security_policy(
    staff: Page, shared_windows: Windows
) -> None:
    """Filters, prepopulated fields, and autocomplete."""
    staff.set_viewport_size({"width": WIDE, "height": HEIGHT})
    staff.goto("/admin/accounts/account/")
    staff.locator("#action-toggle").check()
    expect(staff.locator(".action-counter")).to_contain_text("selected")
    staff.goto("/admin/accounts/user/")
    staff.locator("#changelist-filter summary").first.click()
    staff.locator("#result_list tbody a").first.click()
    assert_heading(staff, "Change user")
    staff.goto("/admin/credits/plan/add/")
    staff.goto("/admin/auth/group/add/")
    staff.goto("/admin/account/emailaddress/add/")
    assert not shared_windows.take_console_errors()


def test_groups_and_permissions_are_checkboxes_with_names(
    staff: Page, shared_windows: Windows
) -> None:
    staff.goto("/admin/accounts/user/")
    staff.locator("#result_list tbody a").first.click()
    groups = staff.get_by_role("group", name="Groups")
    groups.get_by_label("Finance").check()
    staff.get_by_role("button", name="Save and continue editing").click()
    expect(groups.get_by_label("Finance")).to_be_checked()
    expect(groups.get_by_label("Support")).not_to_be_checked()
    _assert_no_findings_in_form(staff, shared_windows)
    staff.goto("/admin/auth/group/add/")
    permissions = staff.get_by_role("group", name="Permissions")
    credits_permissions = permissions.get_by_role("group", name="Credits")
    expect(credits_permissions.get_by_label("Can grant credits")).not_to_be_checked()
    _assert_no_findings_in_form(staff, shared_windows)


def test_admin_index_shows_its_panels(staff: Page, shared_windows: Windows) -> None:
    staff.goto("/admin/")
    assert_heading(staff, "Staff dashboard")
    assert not shared_windows.take_console_errors()
    for question in ("Last 30 days", "Open work", "Low balances", "Paid plans", "Daily jobs"):
        expect(staff.get_by_role("heading", level=2, name=question)).to_be_visible()
    assert_no_findings(staff)


def test_staff_find_and_view_a_customer(staff: Page, shared_windows: Windows) -> None:
    staff.set_viewport_size({"width": WIDE, "height": HEIGHT})
    _find(staff, "owner@")
    expect(staff.get_by_role("heading", level=2, name="Users")).to_be_visible()
    assert_no_findings(staff)
    _find(staff, "owner@example.com")
    assert_heading(staff, "Change user")
    staff.goto("/admin/accounts/account/")
    staff.locator("#result_list tbody a").first.click()
    tabs = staff.get_by_role("navigation", name="Account")
    expect(tabs.locator("[aria-current]")).to_have_text("Overview")
    assert not shared_windows.take_console_errors()
    for tab in tabs.get_by_role("link").all_text_contents():
        staff.set_viewport_size({"width": WIDE, "height": HEIGHT})
        tabs.get_by_role("link", name=tab, exact=True).press("Enter")
        expect(tabs.locator("[aria-current]")).to_have_text(tab)
        assert_no_findings(staff)
        # axe reads styles that Django's forms.css imports.
        shared_windows.take_console_errors()


def _find(page: Page, text: str) -> None:
    page.goto("/admin/")
    page.get_by_label("Find a customer").fill(text)
    page.get_by_role("button", name="Find").click()


def _assert_no_findings_in_form(page: Page, windows: Windows) -> None:
    assert not windows.take_console_errors()
    assert_no_findings(page)
    page.set_viewport_size({"width": WIDE, "height": HEIGHT})
    # axe reads styles that Django's forms.css imports, and violates our content security policy.
    windows.take_console_errors()
