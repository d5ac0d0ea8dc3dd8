"""Place, fulfill, and cancel orders. Refunds are in refunds.py.

Every report of a payment, from staff or a payment provider, calls `fulfill_order`, which grants the
credits once. Each operation locks the account (`lock_subscription`), so that changes of an
account's orders and plan serialize.
"""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, cast

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts import audit
from accounts.models import Account, User
from credits import emails, services
from credits.models import InvoiceCounter, LedgerEntry, Order, Pack, Plan, Subscription
from credits.money import with_tax, without_tax
from credits.orders import refunds
from credits.periods import Period
from credits.plans import subscriptions
from credits.plans.offers import (
    Offer,
    OrderRefused,
    default_payment_method,
    make_offer,
    make_renewal_offer,
    tax_rate,
)

Kind, State, Method = Order.Kind, Order.State, Order.Method

DAYS_TO_PAY = 14
# Stripe Checkout sessions expire after 24 hours.
CARD_DAYS_TO_PAY = 1
MAX_PENDING_ORDERS = 10


@dataclass(frozen=True)
class Buyer:
    """The name, address, and tax number on an invoice."""

    name: str
    address: str = ""
    tax_id: str = ""


@transaction.atomic
def place_order(
    *,
    account: Account,
    item: Pack | Plan,
    buyer: Buyer,
    actor: User,
    form_token: str | None = None,
    ip: str | None = None,
) -> Order:
    """Place an order, or return the one that this form has already placed."""
    subscription = subscriptions.lock_subscription(account)
    existing = account.orders.filter(form_token=form_token).first() if form_token else None
    if existing is not None:
        return existing
    if not subscription.account.is_open:
        raise OrderRefused("The account is closed.")
    offer = make_offer(item, subscription)
    if isinstance(item, Pack):
        _refuse_too_many_pending(account)
    else:
        same_terms = account.orders.pending().filter(
            plan=item, kind=offer.kind, net_cents=offer.net_cents, method=default_payment_method()
        )
        if pending := same_terms.first():
            return pending
        _cancel_superseded_orders(subscription, item, offer)
    order = _create_order(
        account, item, offer, buyer=buyer, placed_by=actor.email, form_token=form_token
    )
    audit.record(account, actor, "order.placed", str(order), ip)
    return order


def _cancel_superseded_orders(subscription: Subscription, plan: Plan, offer: Offer) -> None:
    """Cancel pending plan orders before placing a new one, except a renewal before an upgrade."""
    pending = subscription.account.orders.pending().for_plans()
    if offer.kind == Kind.RENEWAL:
        # Within the grace period, ordering a plan also makes it the next plan.
        subscription.next_plan = plan
        subscription.save(update_fields=["next_plan"])
    else:
        pending = pending.exclude(kind=Kind.RENEWAL)
    pending.cancel()


@transaction.atomic
def place_renewal(
    *, subscription: Subscription, plan: Plan, month: Period, paid_cents: int | None = None
) -> Order:
    """Place a renewal order, replacing a pending one. The caller has locked the account.

    `paid_cents` is what a provider that renews automatically was paid. The daily job omits it.
    """
    account = subscription.account
    account.orders.pending().filter(kind=Kind.RENEWAL).cancel()
    is_paid = paid_cents is not None
    net_cents = without_tax(paid_cents, tax_rate()) if paid_cents is not None else None
    offer = make_renewal_offer(plan, month, net_cents)
    order = _create_order(account, plan, offer, buyer=last_buyer(account), placed_by="system")
    if order.method == Method.STRIPE and not is_paid:
        emails.queue_invoice(order=order)
    return order


def last_buyer(account: Account) -> Buyer:
    """Return the buyer of the account's last order, or the account itself if it has none."""
    order = account.orders.first()
    if order is None:
        return Buyer(account.name)
    return Buyer(order.buyer_name, order.buyer_address, order.buyer_tax_id)


@transaction.atomic
def fulfill_order(
    *, order: Order, actor: User | None = None, ip: str | None = None, **provider_ids: str
) -> bool:
    """Mark an order paid and grant what it is for. Returns False if that was done before.

    Grants once, even for concurrent calls. A cancelled order is fulfilled too, because its money
    has arrived. `provider_ids` are fields of the order with ids at the payment provider.
    """
    subscription = subscriptions.lock_subscription(order.account)
    order.refresh_from_db()
    if order.state in (State.PAID, State.REFUNDED):
        return False
    if order.kind in (Kind.PLAN, Kind.RENEWAL):
        month = subscriptions.assign_paid_month(subscription)
        order.period_start, order.period_end = month.start, month.end
    order.state, order.paid_at = State.PAID, timezone.now()
    _assign_invoice_number(order)
    for name, value in provider_ids.items():
        setattr(order, name, value)
    order.save()
    _grant_credits(order, actor)
    if order.refunded_cents:
        # The provider reported a partial refund before the payment.
        refunds.deduct_share(order, 0, None, "")
    _update_plan(order, subscription)
    audit.record(order.account, actor, "order.paid", str(order), ip)
    emails.queue_receipt(order=order)
    return True


def _update_plan(order: Order, subscription: Subscription) -> None:
    """Make a purchased plan the next plan, and recompute the current one.

    A renewal leaves the next plan unchanged.
    """
    today = timezone.now().date()
    if order.kind == Kind.PLAN or (order.kind == Kind.UPGRADE and order.ends_after(today)):
        subscription.next_plan = cast(Plan, order.plan)
        order.account.orders.pending().filter(kind=Kind.RENEWAL).cancel()
    elif subscription.next_plan.is_free and order.period_start == today:
        # A renewal paid after the plan ended, or on the day it ends, brings the plan back.
        subscription.next_plan = cast(Plan, order.plan)
    subscriptions.recompute_plan(subscription)


@transaction.atomic
def cancel_order(*, order: Order, actor: User | None = None, ip: str | None = None) -> bool:
    """Cancel a pending order. Returns False if it is no longer pending."""
    subscriptions.lock_subscription(order.account)
    if not Order.objects.pending().filter(pk=order.pk).cancel():
        return False
    audit.record(order.account, actor, "order.cancelled", str(order), ip)
    return True


def _refuse_too_many_pending(account: Account) -> None:
    if account.orders.pending().count() >= MAX_PENDING_ORDERS:
        raise OrderRefused(
            f"{MAX_PENDING_ORDERS} orders wait for payment, which is the most an account may have. "
            "Pay or cancel one first."
        )


def _create_order(
    account: Account,
    item: Pack | Plan,
    offer: Offer,
    *,
    buyer: Buyer,
    placed_by: str,
    **fields: Any,
) -> Order:
    method = default_payment_method()
    amount = with_tax(offer.net_cents, tax_rate())
    order = Order(
        account=account,
        kind=offer.kind,
        method=method,
        pack=item if isinstance(item, Pack) else None,
        plan=item if isinstance(item, Plan) else None,
        requests_per_minute=item.requests_per_minute if isinstance(item, Pack) else None,
        description=offer.description,
        credits=offer.credits,
        period_start=offer.month.start if offer.month else None,
        period_end=offer.month.end if offer.month else None,
        net_cents=amount.net_cents,
        tax_cents=amount.tax_cents,
        tax_rate=tax_rate(),
        currency=settings.CURRENCY,
        buyer_name=buyer.name,
        buyer_address=buyer.address,
        buyer_tax_id=buyer.tax_id,
        seller_name=settings.SELLER_NAME,
        seller_address=settings.SELLER_ADDRESS,
        seller_tax_id=settings.SELLER_TAX_ID,
        payment_details=settings.INVOICE_PAYMENT_DETAILS if method == Method.INVOICE else "",
        placed_by=placed_by,
        due_on=_due_on(account, offer, method),
        **fields,
    )
    if method == Method.INVOICE:
        _assign_invoice_number(order)
        emails.queue_invoice(order=order)
    order.save()
    return order


def _due_on(account: Account, offer: Offer, method: str) -> date:
    if offer.kind == Kind.RENEWAL and offer.month:
        return subscriptions.renewal_due_date(
            Subscription.objects.get(account=account), offer.month.start
        )
    days = DAYS_TO_PAY if method == Method.INVOICE else CARD_DAYS_TO_PAY
    return timezone.now().date() + timedelta(days=days)


def _assign_invoice_number(order: Order) -> None:
    if order.invoice_number is None:
        order.invoice_number = InvoiceCounter.next()
        order.invoiced_on = timezone.now().date()


def _grant_credits(order: Order, actor: User | None) -> None:
    if not order.credits:
        return
    kind, source = LedgerEntry.Kind.PURCHASE, f"order:{order.public_id}"
    if order.kind in (Kind.PLAN, Kind.RENEWAL):
        plan = cast(Plan, order.plan)
        kind = LedgerEntry.Kind.PLAN
        period_source = f"plan:{plan.code}:{order.account.public_id}:{order.period_start}"
        # Exists if the month was refunded and is bought again: then the order is the source.
        if not LedgerEntry.objects.filter(source=period_source).exists():
            source = period_source
    services.post_entry(
        account=order.account,
        kind=kind,
        amount=order.credits,
        source=source,
        actor=actor,
        reason=str(order),
        order=order,
    )
