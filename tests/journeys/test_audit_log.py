"""An owner searches the audit log and exports it."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.journeys.keys import create_key
from tests.journeys.newcomers import Newcomer
from tests.journeys.sign_in import assert_heading
from tests.journeys.windows import Windows


@pytest.mark.main_path
def test_owner_finds_who_created_a_key_and_exports_the_audit_log(
    windows: Windows, newcomer: Newcomer
) -> None:
    page = windows.open(newcomer)
    create_key(page, "Nightly job")
    page.goto("/accounts/security/")
    page.get_by_role("main").get_by_role("button", name="View").last.click()
    assert_heading(page, "Audit log")
    expect(page.get_by_role("row").filter(has_text="Signed in")).to_have_count(1)
    page.get_by_label("What", exact=True).select_option(label="Created an API key")
    expect(page).to_have_url("/accounts/audit/?what=key.created")
    row = page.get_by_role("row").filter(has_text="Nightly job")
    expect(row).to_contain_text(newcomer.email)
    with page.expect_download() as download:
        page.get_by_role("button", name="Export as CSV").click()
    text = Path(download.value.path()).read_text("utf-8-sig")
    assert download.value.suggested_filename.endswith(".csv")
    assert [line.count("Nightly job") for line in text.splitlines()] == [0, 1]
    page.get_by_role("link", name="Audit log").first.click()
    expect(page.get_by_role("row").filter(has_text="Exported the audit log")).to_have_count(1)
