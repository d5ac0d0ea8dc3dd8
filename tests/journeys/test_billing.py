"""From a 402 to the next 200: by invoice or card."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.journeys.findings import assert_no_findings
from tests.journeys.purchases import (
    fill_order,
    make_customer,
    mark_paid,
    open_as_staff,
    place_order,
)
from tests.journeys.sign_in import assert_heading, sign_in
from tests.journeys.windows import Windows, open_windows
from tests.servers.client import HttpCaller
from tests.servers.product import Product, plain_text, product
from tests.servers.stripe import FakeStripe, fake_stripe


@pytest.fixture(scope="module")
def staff(shared_windows: Windows, site: Product) -> Page:
    return open_as_staff(shared_windows, site)


@pytest.mark.main_path
def test_a_402_leads_to_a_pack_by_invoice_and_back_to_200(
    windows: Windows, site: Product, staff: Page
) -> None:
    customer = make_customer(site, "empty@shop.example", credits=1)
    caller = HttpCaller(site, customer.secret)
    assert caller.validate("no address").status == 200
    refused = caller.validate("no address")
    assert refused.status == 402
    page = windows.open()
    page.goto(refused.document["error"]["details"]["top_up_url"])
    page.get_by_label("Email", exact=True).fill(customer.email)
    page.get_by_label("Password").fill(customer.password)
    page.get_by_role("button", name="Sign in", exact=True).click()
    # The smallest pack covers the call.
    assert_heading(page, "1,000 credits")
    order_id = place_order(page)
    expect(page.get_by_text("Please transfer it by")).to_be_visible()
    assert caller.validate("no address").status == 402

    mark_paid(staff, order_id)
    response = caller.validate("no address")
    assert (response.status, response.headers["X-Credits-Remaining"]) == (200, "999")
    assert response.headers["X-RateLimit-Limit"] == "300"
    page.reload()
    expect(page.get_by_text("1,000 credits were added to your balance.")).to_be_visible()
    page.get_by_role("button", name="Printable invoice").click()
    assert_heading(page, "Invoice")
    expect(page.get_by_text("Paid on")).to_be_visible()
    receipt = plain_text(site.wait_for_email(customer.email, "Receipt"))
    assert "We added 1,000 credits to your balance." in receipt
    assert f"{site.url}/credits/orders/{order_id}/" in receipt


@pytest.fixture(scope="module")
def stripe() -> Iterator[FakeStripe]:
    with fake_stripe() as running:
        yield running


@pytest.fixture(scope="module")
def shop(
    stripe: FakeStripe, chromium: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Product]:
    """A product that accepts card payments."""
    folder = tmp_path_factory.mktemp("cards")
    with product(folder, WEB_WORKERS="1", **stripe.environment) as running:
        stripe.webhook = f"{running.url}/credits/stripe/"
        yield running


@pytest.fixture
def card_windows(browser: Browser, shop: Product) -> Iterator[Windows]:
    with open_windows(browser, shop.url) as windows:
        yield windows


def test_a_pack_is_paid_by_card(card_windows: Windows, shop: Product, stripe: FakeStripe) -> None:
    customer = make_customer(shop, "card@shop.example", credits=0)
    page = card_windows.open()
    sign_in(page, customer.email, customer.password)
    assert_heading(page, "Overview")
    page.goto("/credits/packs/?credits=400&next=/lists/")
    assert_heading(page, "1,000 credits")
    expect(page.get_by_text("Next, you pay by card on Stripe and return here.")).to_be_visible()
    assert_no_findings(page)
    fill_order(page)
    page.get_by_role("button", name="Continue to payment").click()
    # The next page is the provider's, although `form-action` is its origin only here.
    page.wait_for_url(f"{stripe.url}/pay/*")
    page.get_by_role("link", name="Not now").click()
    expect(page.get_by_text("Unpaid")).to_be_visible()
    assert_no_findings(page)
    page.get_by_role("button", name="Pay $5.00 by card").click()
    page.wait_for_url(f"{stripe.url}/pay/*")
    page.get_by_role("button", name="Pay now").click()
    page.get_by_role("button", name="Continue where you left off").click()
    assert_heading(page, "Lists")
    page.go_back()
    expect(page.get_by_text("1,000 credits were added to your balance.")).to_be_visible()
    assert HttpCaller(shop, customer.secret).validate("no address").status == 200


def test_automatic_top_up_buys_a_pack_with_the_saved_card(
    card_windows: Windows, shop: Product, stripe: FakeStripe
) -> None:
    customer = make_customer(shop, "automatic@shop.example", credits=0)
    page = card_windows.open()
    sign_in(page, customer.email, customer.password)
    assert_heading(page, "Overview")
    page.goto("/credits/card/")
    expect(page.get_by_text("You agree that we save this card at Stripe")).to_be_visible()
    page.get_by_role("button", name="Agree and continue to Stripe").click()
    page.get_by_role("button", name="Pay now").click()
    expect(page.get_by_text("Visa ending in 4242")).to_be_visible()
    page.get_by_role("button", name="Set up").click()
    page.get_by_label("When the balance falls below").fill("10")
    page.get_by_label("Spend at most").fill("5")
    assert_no_findings(page)
    page.get_by_role("button", name="Switch on").click()
    expect(page.get_by_text("Automatic top-up is on.")).to_be_visible()
    shop.wait_for_email(customer.email, "automatic top-up of 1,000 credits")
    page.reload()
    expect(page.get_by_text("Another pack would exceed your monthly cap.")).to_be_visible()
    assert_no_findings(page)
    assert HttpCaller(shop, customer.secret).validate("no address").status == 200
    page.get_by_role("button", name="Remove card").click()
    page.get_by_role("button", name="Remove card").click()
    expect(page.get_by_text("Removed Visa ending in 4242.")).to_be_visible()
    assert len(stripe.detached) == 1
