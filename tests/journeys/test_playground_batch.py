"""The playground for several addresses: the count, the results, the CSV file, and the tabs."""

import csv
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.journeys.newcomers import Newcomer
from tests.journeys.windows import NARROW, Windows

PAGE = "/validation/playground/batch/"
LINES = " risky@sandbox.test\n\nno address\nrisky@sandbox.test "
VALIDATE = "Validate addresses"


@pytest.fixture
def page(windows: Windows, newcomer: Newcomer) -> Page:
    page = windows.open(newcomer)
    page.goto("/validation/playground/")
    page.get_by_role("link", name="Several addresses").click()
    page.wait_for_url("**/batch/")
    return page


def send(page: Page, text: str = LINES) -> None:
    page.get_by_label("Addresses").fill(text)
    page.get_by_role("button", name=VALIDATE).click()
    expect(page.get_by_role("heading", name="validated")).to_be_visible()
    page.wait_for_load_state()


def download(page: Page) -> list[list[str]]:
    with page.expect_download() as event:
        page.get_by_role("button", name="Export as CSV").click()
    assert event.value.suggested_filename.startswith("bat_")
    with Path(event.value.path()).open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


def test_count_follows_the_text(page: Page) -> None:
    count, field = page.locator(".batch-count"), page.get_by_label("Addresses")
    expect(count).to_contain_text("0 of 60 addresses. At most 0 credits;")
    field.fill("jane@shop.example\n\n joe@shop.example \njane@shop.example\nrisky@sandbox.test")
    expect(count).to_contain_text("4 of 60 addresses. At most 2 credits;")
    expect(count).not_to_have_class("batch-count batch-too-many")
    field.fill("\n".join(f"address {number}" for number in range(61)))
    expect(count).to_have_class("batch-count batch-too-many")


def test_batch_is_validated_once_and_downloaded(page: Page) -> None:
    send(page)
    expect(page.locator(".batch-rows tbody tr")).to_have_count(3)
    expect(page.locator(".batch-facts")).to_contain_text("1 credit, 99 left")
    duplicate = page.locator(".batch-rows tbody tr").nth(2)
    expect(duplicate).to_contain_text("Repeats line 1, for free.")

    header, *rows = download(page)
    assert header[:3] == ["line", "email", "verdict"]
    assert [row[:3] for row in rows] == [
        ["1", "risky@sandbox.test", "risky"],
        ["3", "no address", "undeliverable"],
        ["4", "risky@sandbox.test", "risky"],
    ]

    # The page replaced its URL, so reloading it doesn't send the form again.
    page.reload()
    expect(page.get_by_label("Addresses")).to_have_value("")
    expect(page.locator(".app-side")).to_contain_text("99 credits")


def test_row_and_button_open_the_request_log_in_a_new_tab(page: Page) -> None:
    send(page)
    with page.expect_popup() as requests:
        page.get_by_role("button", name="Show these requests").click()
    expect(requests.value.locator(".log tbody tr")).to_have_count(2)
    with page.expect_popup() as request:
        page.locator(".batch-rows tbody tr").nth(1).click()
    expect(request.value.get_by_role("link", name="bat_")).to_be_visible()
    # The results are still there.
    expect(page.locator(".batch-rows tbody tr")).to_have_count(3)


def test_batch_works_on_a_phone_without_javascript(windows: Windows, newcomer: Newcomer) -> None:
    page = windows.open(newcomer, java_script_enabled=False, width=NARROW)
    page.goto(PAGE)
    expect(page.locator(".batch-count")).to_contain_text(
        "Up to 60 addresses. At most 1 credit each;"
    )
    send(page)
    assert len(download(page)) == 1 + 3
    for text in ("Repeats line 1", '"verdict"', "X-Credits-Cost", "curl", "<?php"):
        expect(page.get_by_text(text).first).to_be_visible()
