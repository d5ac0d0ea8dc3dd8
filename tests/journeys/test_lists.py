"""Lists from the upload to the download, with and without JavaScript."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.journeys.findings import assert_no_findings
from tests.journeys.lists import run_lists
from tests.journeys.newcomers import Newcomer
from tests.journeys.windows import NARROW, Windows
from tests.servers.product import Product

PAGE = "/validation/lists/"
# Reserved domains have a definite verdict without the DNS.
CSV = b"id,email\n1,jane@reserved.test\n2,joe@reserved.test\n"


def upload(page: Page) -> None:
    page.goto(PAGE)
    file = {"name": "customers.csv", "mimeType": "text/csv", "buffer": CSV}
    page.get_by_label("File").set_input_files(file)  # type: ignore[arg-type]
    page.get_by_role("button", name="Upload list").click()
    expect(page.get_by_role("heading", name="customers.csv")).to_be_visible()


def download(page: Page) -> str:
    page.get_by_label("Rows").select_option("Undeliverable")
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
    expect(page.get_by_text("At most 2 credits.")).to_be_visible()
    page.get_by_role("button", name="Start list").click()
    expect(page.get_by_text("0 of 2 addresses checked")).to_be_visible()
    assert_no_findings(page)
    run_lists(site)
    expect(page.get_by_text("Completed on")).to_be_visible()
    assert_no_findings(page)
    assert "2,joe@reserved.test,undeliverable," in download(page)


def test_paused_list_is_resumed_canceled_and_deleted(
    windows: Windows, site: Product, newcomer: Newcomer
) -> None:
    page = windows.open(newcomer)
    upload(page)
    run_lists(site)
    page.get_by_role("button", name="Start list").click()
    page.get_by_role("button", name="Pause list").click()
    expect(page.get_by_text("If it isn't resumed by")).to_be_visible()
    page.get_by_role("button", name="Resume list").click()
    page.get_by_role("button", name="Cancel list").click()
    page.get_by_role("button", name="Cancel list").click()
    expect(page.get_by_text("Its unused credits were released.")).to_be_visible()
    page.get_by_role("button", name="Delete list").click()
    page.get_by_role("button", name="Delete list").click()
    expect(page.get_by_text("Deleted customers.csv.")).to_be_visible()


@pytest.fixture
def phone(windows: Windows, newcomer: Newcomer) -> Page:
    return windows.open(newcomer, java_script_enabled=False, width=NARROW)


def test_list_is_checked_on_a_phone_without_javascript(phone: Page, site: Product) -> None:
    upload(phone)
    run_lists(site)
    phone.get_by_role("link", name="Refresh").click()
    phone.get_by_label("Column with the addresses").select_option(index=0)
    phone.get_by_role("button", name="Use this column").click()
    run_lists(site)
    phone.get_by_role("link", name="Refresh").click()
    expect(phone.get_by_text("No cell in this column is an address.")).to_be_visible()
    phone.get_by_label("Column with the addresses").select_option(index=1)
    phone.get_by_role("button", name="Use this column").click()
    run_lists(site)
    phone.get_by_role("link", name="Refresh").click()
    phone.get_by_role("button", name="Start list").click()
    run_lists(site)
    phone.get_by_role("link", name="Refresh").click()
    assert "1,jane@reserved.test,undeliverable," in download(phone)
