"""The billing pages: their states and permissions."""

import re
from collections.abc import Iterator
from datetime import date
from typing import Any
from urllib.parse import quote as quote_url

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Account, User
from accounts.roles import Role
from credits.models import Order, Pack, Plan, Wallet
from credits.orders.fulfillment import fulfill_order
from credits.orders.refunds import refund_order
from credits.presenters.spending import build_spending_chart
from credits.services import deduct, grant
from credits.wallet.statement import monthly_statement
from tests.conftest import make_member, signed_in
from tests.credits.customers import order_form, pay, place_order, use_credits
from tests.credits.time_travel import on
from tests.support.api_client import ApiClient

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]


def text(response: Any) -> str:
    assert response.status_code == 200, response
    return " ".join(response.content.decode().split())


def test_estimate_uses_the_pace_since_the_first_usage(account: Account) -> None:
    with on("2026-11-18", hour=10):
        use_credits(account, 30)
    with on("2026-11-21", hour=10):
        page = text(signed_in(User.objects.get(email="owner@shop.example")).get("/credits/"))
    assert "At this pace of requests, your credits last until 28 Nov 2026." in page


def test_billing_page_shows_an_empty_balance_and_a_debt(browser: Client, account: Account) -> None:
    use_credits(account, 100)
    assert "API requests return 402 until you add credits" in text(browser.get("/credits/"))
    deduct(account=account, amount=5, reason="Error", actor=None)
    assert "You owe 5 credits" in text(browser.get("/credits/"))


def test_upcoming_charges_name_the_next_month_of_a_paid_plan(
    browser: Client, account: Account
) -> None:
    assert "None. You pay only for what you order." in text(browser.get("/credits/"))
    fulfill_order(order=place_order(account, "growth"))
    upcoming = text(browser.get("/credits/")).partition('id="upcoming"')[2]
    covered_until = Account.objects.get(pk=account.pk).subscription.covered_until
    assert covered_until
    assert "<strong>Growth plan, next month</strong>" in upcoming
    assert f"From {covered_until.day} {covered_until:%b %Y}." in upcoming
    assert '<strong class="text-number">$99.00</strong>' in upcoming


def test_threshold_can_be_set_and_reset_unless_it_is_invalid(
    browser: Client, account: Account
) -> None:
    for value, threshold in (("40", 40), ("0", 0), ("", None)):
        response = browser.post("/credits/threshold/", {"threshold": value})
        assert response.status_code == 302
        assert Wallet.objects.get(account=account).low_balance_threshold == threshold
    for value in ("-1", "1.5", "many", str(2**63), "1000000001"):
        assert "errorlist" in text(browser.post("/credits/threshold/", {"threshold": value})), value
    assert Wallet.objects.get(account=account).low_balance_threshold is None


def test_pack_is_ordered_by_invoice_at_its_price_whatever_the_form_contains(
    browser: Client, account: Account, pack: Pack
) -> None:
    page = text(browser.get(f"/credits/packs/{pack.public_id}/"))
    assert "$5.00" in page
    form = {**order_form(account, pack), "name": "Shop Ltd", "address": "A\n\nB", "tax_id": "X1"}
    form |= {"credits": "9999999", "net_cents": "1", "state": "paid", "account": "1"}
    response = browser.post(f"/credits/packs/{pack.public_id}/", form)
    order = account.orders.get()
    assert response.headers["Location"] == f"/credits/orders/{order.public_id}/"
    assert (order.buyer_name, order.buyer_address) == ("Shop Ltd", "A\nB")
    assert (order.credits, order.net_cents, order.state) == (1_000, 500, "pending")
    assert Wallet.objects.get(account=account).balance == 100
    again = browser.post(f"/credits/packs/{pack.public_id}/", form)
    assert again.headers["Location"] == response.headers["Location"]
    assert "Please transfer it by" in text(browser.get(response.headers["Location"]))


@pytest.mark.parametrize(
    ("origin", "shown"),
    [("/lists/lst_1/", True), ("//evil.example/", False), ("https://evil.example/", False)],
)
def test_order_leads_back_to_the_page_of_this_site_that_it_came_from(
    browser: Client, account: Account, pack: Pack, origin: str, shown: bool
) -> None:
    path = f"/credits/packs/{pack.public_id}/?next={quote_url(origin)}"
    assert f'href="{path}"' in text(browser.get("/credits/packs/", {"next": origin}))
    response = browser.post(path, order_form(account, pack), follow=True)
    assert (f'href="{origin}"' in text(response)) == shown


def test_changed_price_shows_the_new_quote_instead_of_ordering(
    browser: Client, account: Account, pack: Pack
) -> None:
    path, form = f"/credits/packs/{pack.public_id}/", order_form(account, pack)
    Pack.objects.filter(pk=pack.pk).update(price_cents=700)
    page = text(browser.post(path, {**form, "name": "Shop Ltd"}))
    assert "The terms have changed since you opened this page" in page
    assert "$7.00" in page
    assert 'value="Shop Ltd"' in page
    assert not account.orders.exists()
    terms = re.search(r'name="terms" value="([^"]+)"', page)
    assert terms
    browser.post(path, {**form, "terms": terms[1]})
    assert account.orders.get().net_cents == 700


def test_page_names_the_order_that_the_new_one_replaces(browser: Client, account: Account) -> None:
    old = place_order(account, "starter")
    assert "is waiting for payment" not in text(browser.get("/credits/plans/starter/"))
    assert f"{old.number} (Starter plan, one month) is waiting for payment" in text(
        browser.get("/credits/plans/growth/")
    )
    path, form = "/credits/plans/growth/", order_form(account, "growth")
    assert "This order replaces it" in text(browser.post(path, form, follow=True))
    old.refresh_from_db()
    assert old.state == "cancelled"


def test_incomplete_or_invalid_order_shows_an_error(
    browser: Client, account: Account, pack: Pack
) -> None:
    form = order_form(account, pack)
    for change in (
        *({"name": name} for name in ("", "x" * 201, "a\u202eb")),
        *({"form_token": ""}, {"form_token": "short"}, {"address": "a\u202eb"}, {"terms": ""}),
    ):
        page = text(browser.post(f"/credits/packs/{pack.public_id}/", {**form, **change}))
        assert "errorlist" in page, change
    assert not account.orders.exists()


def test_withdrawn_packs_and_plans_cannot_be_ordered(browser: Client, pack: Pack) -> None:
    Pack.objects.update(is_offered=False)
    Plan.objects.filter(code="growth").update(is_offered=False)
    for path in (f"packs/{pack.public_id}", "packs/pck_00000000000000000000", "plans/growth"):
        assert browser.get(f"/credits/{path}/").status_code == 404
    assert "No packs are available right now" in text(browser.get("/credits/packs/"))


def test_order_is_cancelled_by_its_buyer(browser: Client, order: Order) -> None:
    path = f"/credits/orders/{order.public_id}/"
    page = text(browser.post(f"{path}cancel/", follow=True))
    assert "Canceled INV-000001. Nothing is due." in page
    assert "is no longer waiting for payment" in text(browser.post(f"{path}cancel/", follow=True))
    assert "Canceled on" in text(browser.get(f"{path}invoice/"))


@pytest.fixture
def in_november() -> Iterator[None]:
    with on("2026-11-20"):
        yield


def test_ledger_describes_every_movement_with_the_balance_after_it(
    in_november: None, account: Account, staff: User, pack: Pack
) -> None:
    with on("2026-11-22"):
        order = place_order(account, pack)
        fulfill_order(order=order, actor=staff)
    with on("2026-11-23"):
        use_credits(account, 40)
        use_credits(account, 2)
    with on("2026-11-24"):
        grant(account=account, amount=50, reason="Sorry for the outage", actor=staff)
        deduct(account=account, amount=5, reason="Too many", actor=staff)
    with on("2026-12-02"):
        refund_order(order=order, reason="As you wished")
        use_credits(account, 1)
    november = monthly_statement(account, timezone.now().date().replace(2026, 11, 1))
    # Excludes the sign-up credits, which are granted on the real date.
    movements = [
        (line.description, line.amount)
        for line in november.lines
        if "First month" not in line.description
    ]
    assert movements == [
        ("Deducted by staff: Too many", -5),
        ("Granted by staff: Sorry for the outage", 50),
        ("2 validations", -42),
        ("Purchase: INV-000001: 1,000 credits", 1_000),
    ]
    december = monthly_statement(account, november.first.replace(month=12))
    assert december.opening == november.closing
    assert [line.balance for line in december.lines] == [december.closing, december.opening - 1_000]
    assert december.closing == Wallet.objects.get(account=account).balance


def test_ledger_accepts_any_month_in_the_query(browser: Client) -> None:
    for month in ("", "2026-11", "1999-01", "2099-12", "2026-13", "x", "2026-1"):
        assert "Ledger" in text(browser.get(f"/credits/ledger/?month={month}")), month


def test_staff_are_not_named_to_customers(browser: Client, account: Account, staff: User) -> None:
    grant(account=account, amount=50, reason="Sorry", actor=staff)
    assert staff.email not in text(browser.get("/credits/ledger/"))


def test_plan_that_cannot_be_ordered_redirects_with_the_reason(browser: Client) -> None:
    page = text(browser.get("/credits/plans/free/", follow=True))
    assert "You can&#x27;t buy Free" in page
    assert browser.get("/credits/plans/growth/later/").headers["Location"].endswith("/growth/")


def test_members_who_cannot_buy_see_the_balance_and_who_can(account: Account) -> None:
    browser = signed_in(make_member(account, Role.DEVELOPER))
    page = text(browser.get("/credits/"))
    assert "Upcoming charges" not in page
    assert "Buy credits" not in page
    assert "billing members can buy" in page
    response = browser.get("/credits/packs/")
    assert response.status_code == 403
    assert "Ask an owner, admin, or billing member." in response.content.decode()


def test_links_in_a_402_lead_through_sign_in_to_their_pages(
    caller: ApiClient, account: Account, owner: User
) -> None:
    use_credits(account, 100)
    details = caller.validate("x").json()["error"]["details"]
    for name, heading in (("top_up_url", "1,000 credits"), ("upgrade_url", "Plans")):
        browser = Client()
        path = details[name].removeprefix("http://127.0.0.1:8000")
        sign_in = browser.get(path).headers["Location"]
        assert sign_in == f"/accounts/login/?next={quote_url(path)}"
        form = {"login": owner.email, "password": "correct horse battery"}
        assert f"<h1>{heading}</h1>" in text(browser.post(sign_in, form, follow=True))


TODAY = date(2026, 11, 20)


def buy(account: Account, day: str) -> Order:
    with on(day):
        order = place_order(account, Pack.objects.get(credits=1_000))
        pay(order)
    return order


def test_months_are_sums_of_payments_less_refunds(account: Account) -> None:
    for day in ("2026-09-30", "2026-10-01", "2026-10-31"):
        buy(account, day)
    Order.objects.filter(pk=buy(account, "2026-11-02").pk).update(refunded_cents=150)
    shown = build_spending_chart(account, TODAY)
    assert shown
    assert shown.summary == "Last 12 months: $18.50"
    assert shown.rows[-3:] == [("Sep 2026", "$5.00"), ("Oct 2026", "$10.00"), ("Nov 2026", "$3.50")]
    assert (shown.rows[0][0], len(shown.rows)) == ("Dec 2025", 12)
    assert shown.chart.bars[-2].title == "Oct 2026: $10.00"
    assert shown.chart.ticks[0] == "$10"


def test_unpaid_and_older_orders_are_not_spending(account: Account) -> None:
    buy(account, "2025-11-30")
    place_order(account, Pack.objects.get(credits=1_000))
    assert build_spending_chart(account, TODAY) is None
