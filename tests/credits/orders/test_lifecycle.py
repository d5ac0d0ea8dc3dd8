"""Place, pay, cancel, and refund orders."""

import json
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from pytest_django import Settings

from accounts.models import Account, User
from accounts.roles import Role
from credits.models import InvoiceCounter, Order, Pack
from credits.orders.fulfillment import fulfill_order
from credits.orders.placement import MAX_PENDING_ORDERS, cancel_order
from credits.orders.refunds import refund_order
from credits.plans.offers import OrderRefused
from credits.wallet.books import find_discrepancies
from runtime.models import Mail
from tests.conftest import make_member, signed_in
from tests.credits.customers import balance_and_debt, pay, place_order, use_credits
from tests.credits.time_travel import on, run_daily_jobs

pytestmark = pytest.mark.django_db


def test_order_keeps_its_terms_when_packs_and_settings_change(
    order: Order, pack: Pack, settings: Settings
) -> None:
    Pack.objects.filter(pk=pack.pk).update(price_cents=1, credits=7, requests_per_minute=1)
    settings.SELLER_NAME, settings.TAX_RATE = "Another Ltd", Decimal("0.5")
    order.refresh_from_db()
    assert (order.net_cents, order.credits, order.requests_per_minute) == (500, 1_000, 300)
    assert (order.seller_name, order.tax_cents) == ("Example Validation Ltd", 0)
    assert order.buyer_name == "The Shop Ltd"
    assert (order.number, order.state) == ("INV-000001", "pending")


def test_paid_order_is_granted_once(order: Order, account: Account, staff: User) -> None:
    assert balance_and_debt(account) == (100, 0)
    assert fulfill_order(order=order, actor=staff) is True
    assert fulfill_order(order=order, actor=staff) is False
    assert balance_and_debt(account) == (1_100, 0)
    entry = account.ledger.get(order=order)
    assert (entry.kind, entry.amount, entry.actor) == ("purchase", 1_000, staff.email)
    assert entry.source == f"order:{order.public_id}"
    paid = account.audit_entries.get(action="order.paid")
    assert (paid.actor, paid.target) == (staff, "INV-000001: 1,000 credits")


@pytest.mark.anywhere
def test_order_is_cancelled_60_days_after_its_due_date(order: Order, account: Account) -> None:
    last_day = order.due_on + timedelta(days=60)
    run_daily_jobs(last_day.isoformat())
    order.refresh_from_db()
    assert order.state == "pending"
    run_daily_jobs((last_day + timedelta(days=1)).isoformat())
    order.refresh_from_db()
    assert order.state == "cancelled"
    assert balance_and_debt(account) == (100, 0)


def test_cancelled_order_is_fulfilled_if_it_is_paid_later(
    order: Order, account: Account, owner: User
) -> None:
    assert cancel_order(order=order, actor=owner) is True
    assert cancel_order(order=order, actor=owner) is False
    order.refresh_from_db()
    assert order.state == "cancelled"
    assert balance_and_debt(account) == (100, 0)
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
    order: Order, account: Account, pack: Pack
) -> None:
    fulfill_order(order=order)
    use_credits(account, 900)
    refund_order(order=order)
    assert balance_and_debt(account) == (0, 800)
    fulfill_order(order=place_order(account, pack))
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


@pytest.mark.parametrize(("cents", "is_granted", "balance"), [(None, False, 100), (250, True, 600)])
def test_part_refunded_before_the_payment_is_reported_is_not_granted(
    order: Order, account: Account, cents: int | None, is_granted: bool, balance: int
) -> None:
    refund_order(order=order, cents=cents, reported_by_provider=True)
    assert fulfill_order(order=order) is is_granted
    assert balance_and_debt(account) == (balance, 0)
    assert not list(find_discrepancies())


def test_refunding_a_plan_restores_the_previous_one(account: Account) -> None:
    starter = place_order(account, "starter")
    fulfill_order(order=starter)
    upgrade = place_order(account, "growth")
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
    order: Order, account: Account, pack: Pack
) -> None:
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        place_order(account, pack)
        raise ZeroDivisionError
    following = place_order(account, pack)
    assert following.number == "INV-000002"
    assert InvoiceCounter.objects.get().last == 2
    assert not list(find_discrepancies())


def test_missing_invoice_and_paid_order_without_credits_are_discrepancies(order: Order) -> None:
    InvoiceCounter.objects.update(last=2)
    (line,) = find_discrepancies()
    assert line == "invoices: 1 exist, the highest number is 1, the counter is at 2."
    InvoiceCounter.objects.update(last=1)
    Order.objects.update(state="paid", paid_at=order.placed_at)
    (line,) = find_discrepancies()
    assert line.endswith(f"{order.public_id} is paid, but its credits were not granted.")


@pytest.mark.anywhere
def test_account_can_have_ten_pending_orders(order: Order, account: Account, pack: Pack) -> None:
    for _ in range(MAX_PENDING_ORDERS - 1):
        place_order(account, pack)
    with pytest.raises(OrderRefused, match="10 orders waiting for payment"):
        place_order(account, pack)


def test_database_refuses_an_invalid_order(order: Order) -> None:
    changes: list[dict[str, Any]] = [
        *({"refunded_cents": 501}, {"state": "lost"}, {"state": "paid"}, {"pack": None})
    ]
    for change in changes:
        with pytest.raises(IntegrityError), transaction.atomic():
            Order.objects.update(**change)


@pytest.mark.anywhere
def test_emails_about_money_go_to_owners_and_billing(
    account: Account, owner: User, pack: Pack
) -> None:
    for role in Role:
        make_member(account, role)
    order = place_order(account, pack)
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


@pytest.mark.anywhere
def test_export_has_each_refund_of_an_order(account: Account, owner: User, pack: Pack) -> None:
    with on("2026-11-02"):
        refunded, kept = (place_order(account, pack) for _ in range(2))
        pay(refunded)
    with on("2026-11-10"):
        refund_order(order=refunded, cents=100)
    with on("2026-11-12"):
        refund_order(order=refunded, cents=350)
    response = signed_in(owner).post("/accounts/account/export/")
    orders = {order["public_id"]: order for order in json.loads(response.content)["orders"]}
    rows = orders[refunded.public_id]["refunds"]
    refunds = [(row["at"][:10], row["cents"]) for row in rows]
    assert refunds == [("2026-11-10", 100), ("2026-11-12", 250)]
    assert orders[refunded.public_id]["refunded_cents"] == 350
    assert orders[kept.public_id]["refunds"] == []
