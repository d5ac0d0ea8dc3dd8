"""Searching the dashboard and going to pages with the keyboard alone."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.journeys.findings import assert_no_findings
from tests.journeys.sign_in import assert_heading
from tests.journeys.windows import NARROW, widen


@pytest.fixture
def page(member: Page) -> Page:
    widen(member).goto("/credits/")
    member.evaluate("localStorage.clear()")
    return member


def open_palette(page: Page) -> Locator:
    page.keyboard.press("Control+k")
    search = page.get_by_role("combobox", name="Search pages")
    expect(search).to_be_focused()
    expect(page.get_by_role("option").first).to_be_visible()
    return search


def close(page: Page) -> None:
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


@pytest.mark.main_path
def test_palette_opens_a_page_with_the_keyboard_alone(page: Page) -> None:
    search = open_palette(page)
    assert_no_findings(page)
    # A slow browser asks for the beginning of the word, too.
    with page.expect_response(lambda response: "q=team&" in response.url):
        page.keyboard.type("team")
    expect(page.get_by_role("option", selected=True)).to_have_text("Invite a team member")
    page.keyboard.press("ArrowDown")
    chosen = page.get_by_role("option", selected=True)
    expect(chosen).to_have_text("Team")
    expect(search).to_have_attribute("aria-activedescendant", chosen.get_attribute("id") or "")
    expect(page.get_by_role("status").filter(has_text="results")).to_be_visible()
    page.keyboard.press("Enter")
    assert_heading(page, "Team")


def test_enter_waits_for_the_results_of_what_was_typed(page: Page) -> None:
    open_palette(page)
    page.keyboard.type("audit")
    page.keyboard.press("Enter")
    assert_heading(page, "Audit log")


def test_escape_returns_the_focus_to_the_link_that_opened_the_palette(page: Page) -> None:
    link = page.locator(".app-side").get_by_role("link", name="Search")
    link.press("Enter")
    expect(page.get_by_role("combobox", name="Search pages")).to_be_focused()
    close(page)
    expect(link).to_be_focused()


def test_pages_opened_last_are_listed_first(page: Page) -> None:
    for name in ("Audit log", "Ledger"):
        open_palette(page)
        page.get_by_role("option", name=name).click()
        assert_heading(page, name)
    open_palette(page)
    recent = page.get_by_role("group", name="Recent").get_by_role("option")
    expect(recent).to_have_text([re.compile("Ledger"), re.compile("Audit log")])
    expect(page.get_by_role("option", name="Ledger")).to_have_count(1)
    assert_no_findings(page)


def test_single_keys_open_pages_unless_something_is_being_typed(page: Page) -> None:
    page.get_by_label("Send a low-balance email at").focus()
    page.keyboard.type("gk")
    assert_heading(page, "Billing")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.type("gk")
    assert_heading(page, "API Keys")
    page.keyboard.type("gl")
    assert_heading(page, "Lists")


def test_single_keys_can_be_turned_off(page: Page) -> None:
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(dialog.get_by_role("link", name="API Keys")).to_be_visible()
    assert_no_findings(page)
    dialog.get_by_label("Use single-key shortcuts").uncheck()
    close(page)
    for keys in ("?", "/", "gk"):
        page.keyboard.type(keys)
    page.reload()
    page.keyboard.type("?")
    page.keyboard.type("gk")
    open_palette(page)
    assert_heading(page, "Billing")
    page.get_by_role("button", name="Keyboard shortcuts").click()
    dialog.get_by_label("Use single-key shortcuts").check()
    # Before the browser has moved the focus out of the closed dialog.
    page.keyboard.press("Escape")
    page.keyboard.type("gk")
    assert_heading(page, "API Keys")


def test_search_has_a_button_on_a_phone(page: Page) -> None:
    page.set_viewport_size({"width": NARROW, "height": 800})
    page.get_by_role("banner").get_by_role("link", name="Search").click()
    expect(page.get_by_role("option").first).to_be_visible()
    page.get_by_role("button", name="Close").click()
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_chosen_result_stays_chosen_when_results_arrive_late(page: Page) -> None:
    open_palette(page)
    with page.expect_response(lambda response: "q=tea&" in response.url):
        page.keyboard.type("tea")
    expect(page.get_by_role("option", selected=True)).to_have_text("Invite a team member")
    with page.expect_response(lambda response: "q=team&" in response.url):
        page.keyboard.type("m")
        page.keyboard.press("ArrowDown")
    page.wait_for_timeout(100)
    expect(page.get_by_role("option", selected=True)).to_have_text("Team")
