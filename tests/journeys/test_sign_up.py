from playwright.sync_api import Page, expect

from tests.journeys.findings import assert_no_findings
from tests.journeys.sign_in import PASSWORD, assert_heading, fill_sign_up
from tests.journeys.windows import Windows


def test_a_mistyped_address_is_corrected_before_the_form_is_sent(page: Page) -> None:
    page.goto("/accounts/signup/")
    email = page.get_by_label("Email", exact=True)
    email.fill("jane.corrected@gmial.com")
    email.press("Tab")
    note = page.get_by_role("status")
    expect(note).to_contain_text("Did you mean jane.corrected@gmail.com?")
    assert_no_findings(page)
    note.get_by_role("button").click()
    expect(email).to_have_value("jane.corrected@gmail.com")
    expect(page.get_by_label("Password")).to_be_focused()
    expect(note).to_be_empty()
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Create account").click()
    assert_heading(page, "Confirm your email")


def test_sign_up_works_while_no_suggestion_arrives(page: Page) -> None:
    page.route("**/signup/correction/", lambda route: None)
    fill_sign_up(page, "jane.waiting@shop.example")
    assert_heading(page, "Confirm your email")


def test_without_javascript_an_address_is_corrected_after_the_form_is_sent(
    windows: Windows,
) -> None:
    page = windows.open(java_script_enabled=False)
    fill_sign_up(page, "jane.later@gmial.com")
    expect(page.get_by_text("Did you mean jane.later@gmail.com?")).to_be_visible()
    expect(page.get_by_role("button", name="Use jane")).to_be_hidden()
    expect(page.get_by_role("button", name="Show password")).to_be_hidden()
