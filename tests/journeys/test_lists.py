"""Lists from the upload to the download, with and without JavaScript."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.journeys.findings import assert_no_findings
from tests.journeys.lists import make_lists, run_lists
from tests.journeys.newcomers import Newcomer
from tests.journeys.purchases import mark_paid, open_as_staff, place_order
from tests.journeys.windows import NARROW, Windows
from tests.servers.product import Product

PAGE = "/lists/"
# Reserved domains have a definite verdict without the DNS.
CSV = b"id,email\n1,jane@reserved.test\n2,joe@reserved.test\n"

# Whether the point in the middle of a control belongs to the control.
IS_UNCOVERED = """(element) => {
  const { x, y, width, height } = element.getBoundingClientRect();
  const found = document.elementFromPoint(x + width / 2, y + height / 2);
  return element.contains(found);
}"""


def upload(page: Page, *, has_script: bool = True) -> None:
    page.goto(PAGE)
    file = {"name": "customers.csv", "mimeType": "text/csv", "buffer": CSV}
    page.get_by_label("Choose a file").set_input_files(file)  # type: ignore[arg-type]
    if not has_script:
        page.get_by_role("button", name="Upload list").click()
    expect(page.get_by_role("heading", name="customers.csv")).to_be_visible()


def download(page: Page) -> str:
    page.get_by_role("radio", name="Undeliverable").check()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    return Path(download.value.path()).read_text()


@pytest.mark.main_path
def test_list_page_follows_the_list_without_a_reload(
    windows: Windows, site: Product, newcomer: Newcomer
) -> None:
    page = windows.open(newcomer)
    upload(page)
    expect(page.get_by_text("Reading file")).to_be_visible()
    assert_no_findings(page)
    run_lists(site)
    expect(page.get_by_text("Up to 2 of your")).to_be_visible()
    assert_no_findings(page)
    page.get_by_role("button", name="Start list").click()
    expect(page.get_by_text("0 of 2 addresses checked")).to_be_visible()
    assert_no_findings(page)
    run_lists(site)
    expect(page.get_by_text("Completed on")).to_be_visible()
    assert_no_findings(page)
    assert "2,joe@reserved.test,undeliverable," in download(page)
    page.goto(PAGE)
    page.get_by_label("Actions for customers.csv").click()
    assert_no_findings(page)
    page.get_by_role("button", name="Run again").click()
    expect(page.get_by_text("Reading file")).to_be_visible()


def test_list_page_has_no_findings_in_other_states(
    windows: Windows, site: Product, newcomer: Newcomer
) -> None:
    page = windows.open(newcomer)
    for path in make_lists(site, newcomer.email):
        page.goto(path)
        assert_no_findings(page)


def test_start_stays_in_view_and_covers_no_control(
    windows: Windows, site: Product, newcomer: Newcomer
) -> None:
    page = windows.open(newcomer, width=NARROW)
    upload(page)
    run_lists(site)
    start = page.get_by_role("button", name="Start list")
    expect(start).to_be_in_viewport()
    for control in page.locator("main :is(a, button)").all():
        control.focus()
        expect(start).to_be_in_viewport()
        assert control.evaluate(IS_UNCOVERED), control.inner_text()


def test_missing_credits_are_bought_on_the_way_to_the_start(
    windows: Windows, site: Product, newcomer: Newcomer
) -> None:
    page = windows.open(newcomer)
    page.goto("/lists/create/")
    addresses = "\n".join(f"jane{number}@reserved.test" for number in range(300))
    page.get_by_label("Or paste addresses").fill(addresses)
    page.get_by_role("button", name="Upload list").click()
    run_lists(site)
    expect(page.get_by_text("You need 200 more credits.")).to_be_visible()
    assert_no_findings(page)
    page.get_by_role("button", name="Buy 1,000 credits").click()
    order_id = place_order(page)
    assert_no_findings(page)
    mark_paid(open_as_staff(windows, site), order_id)
    page.reload()
    page.get_by_role("button", name="Continue where you left off").click()
    page.get_by_role("button", name="Start list").click()
    expect(page.get_by_text("0 of 300 addresses checked")).to_be_visible()


@pytest.fixture
def phone(windows: Windows, newcomer: Newcomer) -> Page:
    return windows.open(newcomer, java_script_enabled=False, width=NARROW)


def test_list_is_checked_on_a_phone_without_javascript(phone: Page, site: Product) -> None:
    upload(phone, has_script=False)
    run_lists(site)
    phone.get_by_role("link", name="Refresh").click()
    phone.get_by_role("button", name="id").click()
    run_lists(site)
    phone.get_by_role("link", name="Refresh").click()
    expect(phone.get_by_text("No cell in this column is an address.")).to_be_visible()
    expect(phone.get_by_role("button", name="Start list")).to_have_count(0)
    phone.get_by_role("button", name="email").click()
    run_lists(site)
    phone.get_by_role("link", name="Refresh").click()
    phone.get_by_role("button", name="Start list").click()
    run_lists(site)
    phone.get_by_role("link", name="Refresh").click()
    assert "1,jane@reserved.test,undeliverable," in download(phone)
