import pytest
from playwright.sync_api import expect

from tests.journeys.findings import assert_no_findings
from tests.journeys.newcomers import Newcomer
from tests.journeys.passkeys import add_passkey, open_with_device
from tests.journeys.sign_in import assert_heading, sign_in, sign_out
from tests.journeys.windows import Windows
from tests.servers.product import Product


@pytest.mark.main_path
def test_passkey_signs_in_without_a_password(
    windows: Windows, site: Product, newcomer: Newcomer
) -> None:
    page = open_with_device(windows, site, newcomer)
    add_passkey(page, "My laptop")
    assert_heading(page, "Recovery codes")
    sign_out(page)

    page.goto("/accounts/login/")
    page.get_by_role("button", name="Sign in with a passkey").click()
    assert_heading(page, "Overview")
    page.goto("/accounts/2fa/webauthn/")
    expect(page.get_by_role("row").filter(has_text="My laptop")).not_to_contain_text("never")


def test_missing_passkey_is_explained(windows: Windows, site: Product, newcomer: Newcomer) -> None:
    page = open_with_device(windows, site, newcomer)
    page.goto("/validation/")
    sign_out(page)
    page.goto("/accounts/login/")
    explained = page.get_by_text("Your browser didn't use a passkey.")
    expect(explained).to_be_hidden()
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(explained).to_be_visible(timeout=20_000)


def test_passkey_completes_the_second_step_and_reauthentication(
    windows: Windows, site: Product, newcomer: Newcomer
) -> None:
    page = open_with_device(windows, site, newcomer)
    add_passkey(page, "My laptop")
    assert_heading(page, "Recovery codes")
    sign_out(page)

    sign_in(page, newcomer.email)
    assert_heading(page, "Two-factor authentication")
    assert_no_findings(page)
    page.get_by_role("button", name="Use a passkey").click()
    assert_heading(page, "Overview")

    page.goto("/accounts/2fa/webauthn/reauthenticate/?next=/apikeys/create/")
    assert_heading(page, "Confirm it's you")
    page.get_by_role("button", name="Use a passkey").click()
    page.wait_for_url("**/apikeys/create/")
