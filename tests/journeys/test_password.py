from playwright.sync_api import Page, expect

from tests.journeys.findings import assert_no_findings


def test_a_button_shows_the_password_until_the_form_is_sent(page: Page) -> None:
    page.goto("/accounts/login/")
    password = page.get_by_label("Password")
    page.get_by_label("Email", exact=True).fill("jane@shop.example")
    password.fill("not my password")
    show = page.get_by_role("button", name="Show password")
    password.press("Tab")
    expect(show).to_be_focused()
    show.press("Enter")
    expect(show).to_have_attribute("aria-pressed", "true")
    expect(password).to_have_attribute("type", "text")
    expect(password).to_have_attribute("autocomplete", "current-password")
    assert_no_findings(page)
    sent = "document.forms[0].addEventListener('submit', () => console.log(password.type))"
    page.evaluate(f"const password = document.querySelector('[name=password]'); {sent}")
    with page.expect_console_message(lambda message: message.text == "password"):
        password.press("Enter")
    expect(page.get_by_text("is incorrect")).to_be_visible()
