"""The admin draws with Django's own scripts and styles: the policy must let them through."""

import pytest
from playwright.sync_api import Page

from tests.journeys.people import assert_heading, sign_in
from tests.journeys.windows import Windows
from tests.servers.product import Product

LISTS = [
    *("accounts/account", "accounts/auditentry", "accounts/invitation", "accounts/lease"),
    *("accounts/mail", "accounts/membership", "accounts/user", "apikeys/apikey"),
    *("credits/ledgerentry", "credits/order", "credits/pack", "credits/plan"),
    *("credits/subscription", "credits/usehour", "credits/wallet", "validation/logentry"),
    *("validation/listeddomain", "validation/listeddomain/add", "validation/logentry/find"),
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
