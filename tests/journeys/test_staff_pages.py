"""The admin draws with Django's own scripts and styles: the policy must let them through."""

import pytest
from playwright.sync_api import Page, expect

from tests.journeys.findings import assert_no_findings
from tests.journeys.people import assert_heading, sign_in
from tests.journeys.windows import HEIGHT, WIDE, Windows
from tests.servers.product import Product
from tests.support.pages import all_pages

# They take as long as all other journeys together.
pytestmark = pytest.mark.proof

# Read from the URL table: every list, and every form that adds something.
LISTS = [
    page.route.removeprefix("admin/").rstrip("/")
    for page in all_pages().values()
    if page.is_admin and page.name.endswith(("_changelist", "_add", "logentry_find"))
]


@pytest.fixture(scope="module")
def staff(lasting_windows: Windows, site: Product) -> Page:
    page = lasting_windows.open()
    sign_in(page, "owner@example.com", site.owner_password())
    assert_heading(page, "Overview")
    return page


def test_the_front_page_of_the_staff_draws_without_complaints(
    staff: Page, lasting_windows: Windows
) -> None:
    staff.goto("/admin/")
    assert_heading(staff, "Customers and what is theirs")
    assert not lasting_windows.take_complaints()


@pytest.mark.parametrize("model", LISTS)
def test_a_list_and_its_first_entry_draw_without_complaints(
    staff: Page, lasting_windows: Windows, model: str
) -> None:
    staff.goto(f"/admin/{model}/")
    entry = staff.locator("#result_list tbody a").first
    if entry.count():
        staff.goto(entry.get_attribute("href") or "")
    assert not lasting_windows.take_complaints()


def test_what_django_brings_to_its_forms_works_under_the_policy(
    staff: Page, lasting_windows: Windows
) -> None:
    """Filters, boxes that are filled from other boxes, choosers of rows and of several things."""
    staff.set_viewport_size({"width": WIDE, "height": HEIGHT})
    staff.goto("/admin/accounts/account/")
    staff.locator("#action-toggle").check()
    expect(staff.locator(".action-counter")).to_contain_text("selected")
    staff.goto("/admin/accounts/user/")
    staff.locator("#changelist-filter summary").first.click()
    staff.locator("#result_list tbody a").first.click()
    assert_heading(staff, "Change user")
    staff.locator(".selector-available select").first.wait_for()
    staff.locator("#id_groups_from").select_option(index=0)
    staff.locator(".selector-add").click()
    expect(staff.locator("#id_groups_to option")).to_have_count(1)
    staff.goto("/admin/credits/plan/add/")
    staff.goto("/admin/auth/group/add/")
    staff.locator("#id_permissions_from option").first.wait_for(state="attached")
    staff.goto("/admin/account/emailaddress/add/")
    assert not lasting_windows.take_complaints()


def test_the_front_page_asks_its_questions_in_four_forms(staff: Page) -> None:
    staff.goto("/admin/")
    for question in ("Who is running dry?", "Who pays?", "Did the daily work run?"):
        expect(staff.get_by_role("heading", level=2, name=question)).to_be_visible()
    assert_no_findings(staff)


def test_a_customer_is_found_and_looked_at(staff: Page, lasting_windows: Windows) -> None:
    staff.set_viewport_size({"width": WIDE, "height": HEIGHT})
    _find(staff, "owner@")
    expect(staff.get_by_role("heading", level=2, name="Users")).to_be_visible()
    assert_no_findings(staff)
    _find(staff, "owner@example.com")
    assert_heading(staff, "Change user")
    staff.goto("/admin/accounts/account/")
    staff.locator("#result_list tbody a").first.click()
    staff.get_by_role("link", name="Usage and requests").click()
    expect(staff.get_by_role("heading", level=1)).to_contain_text("usage and requests")
    assert_no_findings(staff)
    assert not lasting_windows.take_complaints()


def test_a_key_that_is_pasted_leads_to_its_page_and_stands_nowhere(
    staff: Page, site: Product
) -> None:
    key = site.owner_key()
    _find(staff, key)
    assert_heading(staff, "View API key")
    for secret in (key, key.removeprefix("svc_live_")):
        assert secret not in staff.url
        assert secret not in staff.content()
    _find(staff, f"{key[:-1]}{'a' if key[-1] == 'b' else 'b'}")
    assert key[:-1] not in staff.content()
    assert_no_findings(staff)


def _find(page: Page, text: str) -> None:
    page.goto("/admin/")
    page.get_by_label("Find a customer").fill(text)
    page.get_by_role("button", name="Find").click()
