"""Place, pay, cancel, and refund orders."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction
from pytest_django import Settings

from accounts.models import Account, User
from accounts.roles import Role
from credits.models import InvoiceCounter, Order, Pack, Plan, Wallet
from credits.orders.buyers import Buyer
from credits.orders.fulfillment import fulfill_order
from credits.orders.placement import MAX_PENDING_ORDERS, cancel_order, place_order
from credits.orders.quotes import quote
from credits.orders.refunds import refund_order
from credits.plans.offers import OrderRefused
from credits.wallet.books import find_discrepancies
from credits.wallet.charges import Charge, charge_account
from runtime.models import Mail
from tests.conftest import make_member

pytestmark = pytest.mark.django_db

SHOP = Buyer("The Shop Ltd", "1 Market Street\nShopton", "SH123")


@pytest.fixture
def order(account: Account, owner: User, pack: Pack) -> Order:
    return place_order(quote=quote(account, pack), buyer=SHOP, actor=owner)


def balance_and_debt(account: Account) -> tuple[int, int]:
    wallet = Wallet.objects.get(account=account)
    return wallet.balance, wallet.debt


def use_credits(account: Account, amount: int) -> None:
    charge_account(Charge(account=account, key=None, verdict="risky", cost=amount, duration_ms=1))


def test_order_keeps_its_terms_when_packs_and_settings_change(
    order: Order, pack: Pack, settings: Settings
) -> None:
    Pack.objects.filter(pk=pack.pk).update(price_cents=1, credits=7, requests_per_minute=1)
    settings.SELLER_NAME, settings.TAX_RATE = "Another Ltd", 0.5
    order.refresh_from_db()
    assert (order.net_cents, order.credits, order.requests_per_minute) == (500, 1_000, 300)
    assert (order.seller_name, order.tax_cents) == ("Example Validation Ltd", 0)
    assert (order.buyer_name, order.buyer_tax_id) == ("The Shop Ltd", "SH123")
    assert (order.number, order.state) == ("INV-000001", "pending")


def test_tax_is_added_in_whole_cents(
    account: Account, owner: User, pack: Pack, settings: Settings
) -> None:
    settings.TAX_RATE = 0.077
    order = place_order(quote=quote(account, pack), buyer=SHOP, actor=owner)
    assert (order.net_cents, order.tax_cents, order.total_cents) == (500, 39, 539)


def test_unpaid_order_grants_nothing(order: Order, account: Account) -> None:
    assert balance_and_debt(account) == (100, 0)
    assert not account.ledger.filter(order=order).exists()


def test_paid_order_is_granted_once(order: Order, account: Account, staff: User) -> None:
    assert fulfill_order(order=order, actor=staff) is True
    assert fulfill_order(order=order, actor=staff) is False
    assert balance_and_debt(account) == (1_100, 0)
    entry = account.ledger.get(order=order)
    assert (entry.kind, entry.amount, entry.actor) == ("purchase", 1_000, staff.email)
    assert entry.source == f"order:{order.public_id}"
    paid = account.audit_entries.get(action="order.paid")
    assert (paid.actor, paid.target) == (staff, "INV-000001: 1,000 credits")


def test_cancelled_order_is_no_longer_pending(order: Order, account: Account, owner: User) -> None:
    assert cancel_order(order=order, actor=owner) is True
    assert cancel_order(order=order, actor=owner) is False
    order.refresh_from_db()
    assert order.state == "cancelled"
    assert balance_and_debt(account) == (100, 0)


def test_payment_of_a_cancelled_order_is_fulfilled(
    order: Order, account: Account, owner: User
) -> None:
    cancel_order(order=order, actor=owner)
    assert fulfill_order(order=order) is True
    assert balance_and_debt(account) == (1_100, 0)


def test_refund_deducts_the_credits(order: Order, account: Account, staff: User) -> None:
    fulfill_order(order=order)
    assert refund_order(order=order, actor=staff, reason="By mistake") is True
    assert refund_order(order=order, actor=staff, reason="By mistake") is False
    assert balance_and_debt(account) == (100, 0)
    entry = account.ledger.get(kind="refund")
    assert (entry.amount, entry.actor) == (-1_000, staff.email)
    assert entry.reason == "INV-000001: 1,000 credits. By mistake"
    order.refresh_from_db()
    assert (order.state, order.refunded_cents) == ("refunded", 500)
    assert fulfill_order(order=order) is False


def test_refund_of_spent_credits_is_a_debt_that_the_next_purchase_pays(
    order: Order, account: Account, owner: User, pack: Pack
) -> None:
    fulfill_order(order=order)
    use_credits(account, 900)
    refund_order(order=order)
    assert balance_and_debt(account) == (0, 800)
    fulfill_order(order=place_order(quote=quote(account, pack), buyer=SHOP, actor=owner))
    assert balance_and_debt(account) == (200, 0)
    assert not list(find_discrepancies())


def test_partial_refunds_deduct_their_share_of_the_credits(order: Order, account: Account) -> None:
    fulfill_order(order=order)
    assert refund_order(order=order, cents=167) is True
    assert balance_and_debt(account) == (100 + 1_000 - 334, 0)
    order.refresh_from_db()
    assert order.state == "paid"
    assert refund_order(order=order, cents=167) is False
    assert refund_order(order=order, cents=100) is False
    assert refund_order(order=order, cents=9_999) is True
    assert balance_and_debt(account) == (100, 0)
    assert Order.objects.get().state == "refunded"
    assert not list(find_discrepancies())


def test_order_refunded_before_its_payment_is_reported_grants_nothing(
    order: Order, account: Account
) -> None:
    refund_order(order=order, reported_by_provider=True)
    assert fulfill_order(order=order) is False
    assert balance_and_debt(account) == (100, 0)
    assert not list(find_discrepancies())


def test_part_refunded_before_the_payment_is_reported_is_not_granted(
    order: Order, account: Account
) -> None:
    refund_order(order=order, cents=250, reported_by_provider=True)
    assert fulfill_order(order=order) is True
    assert balance_and_debt(account) == (600, 0)
    assert not list(find_discrepancies())


def test_refunding_a_plan_restores_the_previous_one(
    account: Account, owner: User, plans: dict[str, Plan]
) -> None:
    starter = place_order(quote=quote(account, plans["starter"]), buyer=SHOP, actor=owner)
    fulfill_order(order=starter)
    upgrade = place_order(quote=quote(account, plans["growth"]), buyer=SHOP, actor=owner)
    fulfill_order(order=upgrade)
    assert (current_plan(account), balance_and_debt(account)) == ("growth", (50_100, 0))
    refund_order(order=upgrade)
    assert (current_plan(account), balance_and_debt(account)) == ("starter", (5_100, 0))
    refund_order(order=starter)
    assert (current_plan(account), balance_and_debt(account)) == ("free", (100, 0))
    assert Account.objects.get(pk=account.pk).request_limit == 60


def current_plan(account: Account) -> str:
    return Account.objects.get(pk=account.pk).subscription.plan.code


def test_invoice_numbers_have_no_gaps_after_a_rollback(
    order: Order, account: Account, owner: User, pack: Pack
) -> None:
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        place_order(quote=quote(account, pack), buyer=SHOP, actor=owner)
        raise ZeroDivisionError
    following = place_order(quote=quote(account, pack), buyer=SHOP, actor=owner)
    assert following.number == "INV-000002"
    assert InvoiceCounter.objects.get().last == 2
    assert not list(find_discrepancies())


def test_missing_invoice_is_a_discrepancy(order: Order) -> None:
    InvoiceCounter.objects.update(last=2)
    (line,) = find_discrepancies()
    assert line == "invoices: 1 exist, the highest number is 1, the counter is at 2."


def test_paid_order_without_credits_is_a_discrepancy(order: Order) -> None:
    Order.objects.update(state="paid", paid_at=order.placed_at)
    (line,) = find_discrepancies()
    assert line.endswith(f"{order.public_id} is paid, but its credits were not granted.")


def test_account_can_have_ten_pending_orders(
    order: Order, account: Account, owner: User, pack: Pack
) -> None:
    for _ in range(MAX_PENDING_ORDERS - 1):
        place_order(quote=quote(account, pack), buyer=SHOP, actor=owner)
    with pytest.raises(OrderRefused, match="10 orders waiting for payment"):
        place_order(quote=quote(account, pack), buyer=SHOP, actor=owner)


@pytest.mark.parametrize(
    "change", [{"refunded_cents": 501}, {"state": "lost"}, {"state": "paid"}, {"pack": None}]
)
def test_database_refuses_an_invalid_order(order: Order, change: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        Order.objects.update(**change)


def test_emails_about_money_go_to_owners_and_billing(
    account: Account, owner: User, pack: Pack
) -> None:
    for role in Role:
        make_member(account, role)
    order = place_order(quote=quote(account, pack), buyer=SHOP, actor=owner)
    fulfill_order(order=order)
    refund_order(order=order)
    recipients = {owner.email, "owner@team.example", "billing@team.example"}
    for subject in ("Invoice INV-000001: 1,000", "Receipt INV-000001: 1,000", "Refund of INV-000"):
        emails = Mail.objects.filter(subject__startswith=subject)
        assert {email.to for email in emails} == recipients
        assert all("$5.00" in email.text for email in emails)
    invoice = Mail.objects.filter(subject__startswith="Invoice", to=owner.email).get()
    assert "Example Bank, account 000000" in invoice.text
    assert f"/credits/orders/{order.public_id}/" in invoice.text
