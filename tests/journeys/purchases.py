"""Steps with orders: place them, and mark them paid as staff."""

import re
from dataclasses import dataclass

from playwright.sync_api import Page, expect

from tests.journeys.sign_in import sign_in, wait_for_heading
from tests.journeys.windows import Windows
from tests.servers.keys import make_account
from tests.servers.product import Product


@dataclass(frozen=True)
class Customer:
    """A customer created by an operator, with a fixed number of credits."""

    email: str
    password: str
    secret: str


def make_customer(site: Product, email: str, credits: int) -> Customer:
    return Customer(email, *make_account(site, email, "--credits", str(credits)))


def order_pack(page: Page, credits: str = "1,000") -> str:
    """Order a pack; end on the order's page and return its id."""
    page.goto("/credits/packs/")
    page.get_by_role("button", name=f"Buy {credits} credits", exact=True).click()
    return place_order(page)


def place_order(page: Page) -> str:
    """Place an order that is paid by invoice."""
    fill_order(page)
    page.locator("main form button").click()
    expect(page.get_by_role("heading", name="Details")).to_be_visible()
    match = re.search(r"/orders/(ord_\w+)/", page.url)
    assert match, page.url
    return match[1]


def fill_order(page: Page) -> None:
    page.get_by_label("Name or company").fill("The Shop Ltd")
    page.get_by_label("Country").select_option("US")


def open_as_staff(windows: Windows, site: Product) -> Page:
    page = windows.open()
    sign_in(page, "owner@example.com", site.owner_password())
    wait_for_heading(page, "Overview")
    return page


def mark_paid(staff: Page, order_id: str) -> None:
    staff.goto(f"/admin/credits/order/?q={order_id}")
    staff.locator("#result_list tbody th a").click()
    staff.get_by_role("link", name="Mark paid").click()
    staff.get_by_role("button", name="Mark paid").click()
    expect(staff.get_by_text(" paid. Granted ")).to_be_visible()
