"""A visitor checks addresses on the landing page."""

from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.journeys.findings import assert_no_findings
from tests.journeys.sign_in import assert_heading
from tests.journeys.windows import NARROW, Windows

MAX_BYTES = 120_000


def result(page: Page) -> Locator:
    return page.get_by_role("status")


def height_of_what_follows(page: Page) -> float:
    """Return where the section below the form starts."""
    box = page.get_by_role("heading", name="When someone signs up: one call").bounding_box()
    assert box
    return box["y"]


@pytest.mark.main_path
def test_first_visit_loads_little(windows: Windows) -> None:
    """All files of a visit with an empty cache, as transferred."""
    page = windows.open()
    sizes: list[float] = []
    network = page.context.new_cdp_session(page)
    network.send("Network.enable")
    network.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    page.goto("/", wait_until="networkidle")
    assert len(sizes) > 5
    assert sum(sizes) < MAX_BYTES


def check(page: Page, email: str) -> int:
    """Check an address with the keyboard; return the status once the result is shown."""
    page.get_by_label("Email address").fill(email)
    with page.expect_response(lambda response: response.request.method == "POST") as response:
        page.keyboard.press("Enter")
    expect(page.locator(".check-result-pending")).to_have_count(0)
    return response.value.status


@pytest.mark.main_path
def test_visitor_checks_addresses_until_the_limit(windows: Windows) -> None:
    """One test, because all checks count in the same limit."""
    page = windows.open(java_script_enabled=False, width=NARROW)
    page.goto("/")
    expect(page.get_by_label("Email address")).to_be_hidden()
    page.get_by_role("button", name="Check", exact=True).click()
    assert_heading(page, "Check an email address")
    check(page, "disposable@sandbox.test")
    expect(result(page)).to_contain_text("risky")

    page = windows.open()
    page.goto("/")
    before = height_of_what_follows(page)
    check(page, "possible_typo@sandbox.test")
    expect(result(page)).to_contain_text("Did you mean possible_typo@mailbox.test?")
    assert height_of_what_follows(page) == before
    assert urlsplit(page.url).path == "/"
    expect(page.get_by_label("Email address")).to_be_focused()
    assert_no_findings(page)

    while check(page, "unknown@sandbox.test") == 200:
        expect(result(page)).to_contain_text("unknown")
    assert_no_findings(page)
    page.get_by_role("link", name="Sign up to keep testing").click()
    page.wait_for_url("/accounts/signup/")
    (refusal,) = windows.take_console_errors()
    assert "429" in refusal


def test_slider_finds_the_cheapest_offer(windows: Windows) -> None:
    page = windows.open()
    page.goto("/")
    slider = page.get_by_role("slider", name="Addresses a month")
    for volume, offer in (
        ("0", "Free: nothing to pay."),
        ("42", "Starter: $15 a month."),
        ("54", "Starter + 10,000 credits: $50 a month."),
        ("57", "Free + 2 × 10,000 credits: $70 a month."),
        ("100", "Free + 1,000,000 credits: $1,200 a month."),
    ):
        slider.fill(volume)
        expect(page.locator("#volume-price")).to_have_text(offer)
    expect(slider).to_have_attribute(
        "aria-valuetext", "1,000,000 addresses. Free + 1,000,000 credits: $1,200 a month."
    )
    assert_no_findings(page)
