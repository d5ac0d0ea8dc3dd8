"""Signing up and in with Google and GitHub, in a browser that enforces `form-action`."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.journeys.findings import assert_no_findings
from tests.journeys.sign_in import assert_heading
from tests.journeys.windows import Windows, open_windows
from tests.servers.identity_provider import CREDENTIALS, IdentityProvider, Person, identity_provider
from tests.servers.product import Product, product

JANE = Person("jane@shop.example", id="4711")


@pytest.fixture(scope="module")
def provider() -> Iterator[IdentityProvider]:
    with identity_provider() as running:
        yield running


@pytest.fixture(scope="module")
def connected_site(
    provider: IdentityProvider, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Product]:
    settings = {
        "DJANGO_SETTINGS_MODULE": "tests.servers.identity_settings",
        "IDENTITY_PROVIDER": provider.url,
    }
    folder = tmp_path_factory.mktemp("providers")
    with product(folder, WEB_WORKERS="1", **settings, **CREDENTIALS) as running:
        yield running


@pytest.fixture
def windows(browser: Browser, connected_site: Product) -> Iterator[Windows]:
    with open_windows(browser, connected_site.url) as windows:
        yield windows


def consent(page: Page, provider: IdentityProvider) -> None:
    # The next page is the provider's, although `form-action` is its origin only here.
    page.wait_for_url(f"{provider.url}/**")
    page.get_by_role("link", name="Continue as").click()


def test_newcomer_signs_up_connects_another_account_and_signs_in_with_it(
    windows: Windows, provider: IdentityProvider
) -> None:
    page, provider.person = windows.open(), JANE
    page.goto("/accounts/signup/")
    assert_no_findings(page)
    page.get_by_role("button", name="Continue with Google").click()
    consent(page, provider)
    expect(page.get_by_text("You're new here.")).to_be_visible()
    assert_no_findings(page)
    page.get_by_role("button", name="Create account").click()
    assert_heading(page, "Overview")
    page.goto("/accounts/connections/")
    assert_no_findings(page)
    page.get_by_role("button", name="Disconnect Google").click()
    expect(page.get_by_text("This is your only way to sign in.")).to_be_visible()
    page.get_by_role("button", name="Connect GitHub").click()
    consent(page, provider)
    expect(page.get_by_text("GitHub was connected.")).to_be_visible()
    page.get_by_role("button", name="Disconnect Google").click()
    expect(page.get_by_text("The account was disconnected.")).to_be_visible()
    other = windows.open()
    other.goto("/accounts/login/?next=/lists/")
    assert_no_findings(other)
    other.get_by_role("button", name="Continue with GitHub").click()
    consent(other, provider)
    assert_heading(other, "Lists")


def test_another_page_cannot_send_a_form_to_the_provider(
    windows: Windows, provider: IdentityProvider
) -> None:
    page = windows.open()
    page.goto("/accounts/login/")
    # The form of the sign-in page, on a page that may not send it on.
    form = page.locator(".providers form").first.evaluate("form => form.outerHTML")
    page.goto("/accounts/password/reset/")
    page.locator("main").evaluate("(main, html) => { main.innerHTML = html }", form)
    with page.expect_event("console", lambda line: "form-action" in line.text):
        page.get_by_role("button", name="Continue with Google").click()
    assert windows.take_console_errors()
    assert page.url.endswith("/accounts/password/reset/")
