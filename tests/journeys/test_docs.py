"""Reading the docs: choosing a language, copying and navigating, with and without JavaScript."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.journeys.sign_in import assert_heading
from tests.journeys.windows import NARROW, Windows

LAYOUT_SHIFT = """new Promise((resolve) => new PerformanceObserver((list) =>
  resolve(list.getEntries().reduce((sum, one) => sum + one.value, 0)))
  .observe({type: "layout-shift", buffered: true}) || setTimeout(resolve, 300, 0))"""


@pytest.fixture
def page(windows: Windows) -> Page:
    page = windows.open(permissions=["clipboard-read", "clipboard-write"])
    page.goto("/docs/")
    return page


@pytest.mark.main_path
def test_chosen_language_is_remembered_on_later_pages(page: Page) -> None:
    expect(page.locator("#quickstart-python")).to_be_visible()
    expect(page.locator("#quickstart-typescript")).to_be_hidden()
    page.get_by_role("tab", name="TypeScript").click()
    expect(page.locator("#quickstart-typescript")).to_be_visible()
    expect(page.locator("#quickstart-python")).to_be_hidden()
    page.get_by_role("link", name="Protect a sign-up form").first.click()
    assert_heading(page, "Protect a sign-up form")
    expect(page.locator("#sign-up-typescript")).to_be_visible()
    page.get_by_role("link", name="Clean a mailing list").first.click()
    expect(page.locator("#mailing-list-typescript")).to_be_visible()
    assert page.evaluate(LAYOUT_SHIFT) == 0


def test_example_without_the_chosen_language_shows_its_first_language(page: Page) -> None:
    page.get_by_role("tab", name="curl").click()
    page.goto("/docs/rate-limits/")
    expect(page.locator("#limits-curl")).to_be_visible()
    expect(page.locator("#retry-python")).to_be_visible()
    expect(page.locator("#retry-typescript")).to_be_hidden()
    expect(page.get_by_role("tab", selected=True)).to_have_text("Python")


def test_arrow_keys_switch_tabs(page: Page) -> None:
    page.get_by_role("tab", name="Python").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="curl")).to_be_focused()
    expect(page.locator("#quickstart-curl")).to_be_visible()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("tabpanel")).to_contain_text("import { Client }")


def test_switching_a_tab_does_not_shift_it_under_the_pointer(page: Page) -> None:
    page.goto("/docs/credits/")
    tab = page.locator("#usage-typescript-tab")
    tab.scroll_into_view_if_needed()
    before = get_top(tab)
    tab.click()
    # Pages scroll by whole pixels.
    assert abs(get_top(tab) - before) < 1


def test_page_is_copied_as_markdown(page: Page) -> None:
    page.goto("/docs/errors/")
    page.get_by_role("button", name="Copy page").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == page.request.get("/docs/errors.md").text()


def test_without_javascript_all_languages_are_shown_and_the_menu_opens(windows: Windows) -> None:
    page = windows.open(java_script_enabled=False, width=NARROW)
    page.goto("/docs/")
    for language in ("python", "typescript", "curl"):
        expect(page.locator(f"#quickstart-{language}")).to_be_visible()
    expect(page.locator(".example-languages")).to_be_hidden()
    page.locator(".docs-menu > summary").click()
    page.locator(".docs-menu").get_by_role("link", name="Sandbox").click()
    assert_heading(page, "Sandbox")


def test_menu_on_a_narrow_page_closes_after_a_choice(windows: Windows) -> None:
    page = windows.open(width=NARROW)
    page.goto("/docs/errors/")
    page.locator(".docs-menu > summary").click()
    page.locator(".docs-menu").get_by_role("link", name="rate_limit_exceeded").click()
    expect(page.get_by_role("heading", name="rate_limit_exceeded")).to_be_in_viewport()
    expect(page.locator(".docs-menu nav")).to_be_hidden()


def get_top(tab: Locator) -> float:
    box = tab.bounding_box()
    assert box
    return box["y"]
