"""The life of an order: placed, paid, cancelled; refunds.py has its end. Whoever tells us that it
was paid, and however often, calls `fulfil_order`, which grants once.

Each act holds the account's row (`plans.locked`), so that an account's orders and its plan change
one after the other.
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
    make_offer,
    method_in_use,
    renewal_of,
    tax_rate,
)

Kind, State, Method = Order.Kind, Order.State, Order.Method

DAYS_TO_PAY = 14
# A card's checkout is open for a day.
CARD_DAYS_TO_PAY = 1
MOST_WAITING = 10


@dataclass(frozen=True)
class Buyer:
    """To whom the invoice goes."""

    name: str
    address: str = ""
    tax_id: str = ""


@transaction.atomic
def start_order(
    *,
    account: Account,
    item: Pack | Plan,
    buyer: Buyer,
    actor: User,
    form_token: str | None = None,
    ip: str | None = None,
) -> Order:
    """The same form again gets the order it placed before."""
    subscription = subscriptions.lock_subscription(account)
    placed = account.orders.filter(form_token=form_token).first() if form_token else None
    if placed is not None:
        return placed
    if not subscription.account.is_open:
        raise OrderRefused("The account is closed.")
    offer = make_offer(item, subscription)
    if isinstance(item, Pack):
        _refuse_too_many(account)
    else:
        same = account.orders.pending().filter(
            plan=item, kind=offer.kind, net_cents=offer.net_cents, method=method_in_use()
        )
        if waiting := same.first():
            return waiting
        _make_room(subscription, item, offer)
    order = _place(account, item, offer, buyer=buyer, placed_by=actor.email, form_token=form_token)
    audit.record(account, actor, "order.placed", str(order), ip)
    return order


def _make_room(subscription: Subscription, plan: Plan, offer: Offer) -> None:
    """Of plans ordered and not paid, the last one waits; a renewal waits beside an upgrade."""
    waiting = subscription.account.orders.pending().of_plans()
    if offer.kind == Kind.RENEWAL:
        # In the days of grace a plan is chosen by paying for it.
        subscription.next_plan = plan
        subscription.save(update_fields=["next_plan"])
    else:
        waiting = waiting.exclude(kind=Kind.RENEWAL)
    waiting.cancel()


@transaction.atomic
def start_renewal(
    *, subscription: Subscription, plan: Plan, month: Period, paid_cents: int | None = None
) -> Order:
    """For the day's work, and for a provider that renewed by itself and says what was paid.

    The account is locked.
    """
    account = subscription.account
    account.orders.pending().filter(kind=Kind.RENEWAL).cancel()
    is_paid = paid_cents is not None
    net_cents = without_tax(paid_cents, tax_rate()) if paid_cents is not None else None
    offer = renewal_of(plan, month, net_cents)
    order = _place(account, plan, offer, buyer=last_buyer(account), placed_by="system")
    if order.method == Method.STRIPE and not is_paid:
        emails.queue_invoice(order=order)
    return order


def last_buyer(account: Account) -> Buyer:
    """Whom the account's last invoice was for; a first one is for the account itself."""
    last = account.orders.first()
    if last is None:
        return Buyer(account.name)
    return Buyer(last.buyer_name, last.buyer_address, last.buyer_tax_id)


@transaction.atomic
def fulfil_order(
    *, order: Order, actor: User | None = None, ip: str | None = None, **learned: str
) -> bool:
    """What was paid for is granted: once, however often and at once this is called.

    Also for an order that was cancelled meanwhile: its money came. `learned` is what the payment
    provider calls the parts of it.
    """
    subscription = subscriptions.lock_subscription(order.account)
    order.refresh_from_db()
    if order.state in (State.PAID, State.REFUNDED):
        return False
    if order.kind in (Kind.PLAN, Kind.RENEWAL):
        month = subscriptions.place_month(subscription)
        order.period_start, order.period_end = month.start, month.end
    order.state, order.paid_at = State.PAID, timezone.now()
    _write_invoice(order)
    for name, value in learned.items():
        setattr(order, name, value)
    order.save()
    _book_purchase(order, actor)
    if order.refunded_cents:
        # Told before the payment was.
        refunds.take_share(order, 0, None, "")
    _follow_order(order, subscription)
    audit.record(order.account, actor, "order.paid", str(order), ip)
    emails.queue_receipt(order=order)
    return True


def _follow_order(order: Order, subscription: Subscription) -> None:
    """The plan that was bought is the one wanted from now on; a renewal changes nothing of that."""
    today = timezone.now().date()
    if order.kind == Kind.PLAN or (order.kind == Kind.UPGRADE and order.holds_on(today)):
        subscription.next_plan = cast(Plan, order.plan)
        waiting = order.account.orders.pending().filter(kind=Kind.RENEWAL)
        waiting.cancel()
    elif subscription.next_plan.is_free and order.period_start == today:
        # A renewal that is paid on its last day, or after the plan had ended: it is back.
        subscription.next_plan = cast(Plan, order.plan)
    subscriptions.recompute_plan(subscription)


@transaction.atomic
def cancel_order(*, order: Order, actor: User | None = None, ip: str | None = None) -> bool:
    """False when it does not wait any more."""
    subscriptions.lock_subscription(order.account)
    waiting = Order.objects.pending().filter(pk=order.pk)
    if not waiting.cancel():
        return False
    audit.record(order.account, actor, "order.cancelled", str(order), ip)
    return True


def _refuse_too_many(account: Account) -> None:
    if account.orders.pending().count() >= MOST_WAITING:
        raise OrderRefused(
            f"{MOST_WAITING} orders wait for payment, which is the most an account may have. Pay "
            "or cancel one first."
        )


def _place(
    account: Account, item: Pack | Plan, offer: Offer, *, buyer: Buyer, placed_by: str, **more: Any
) -> Order:
    method = method_in_use()
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
        **more,
    )
    if method == Method.INVOICE:
        _write_invoice(order)
        emails.queue_invoice(order=order)
    order.save()
    return order


def _due_on(account: Account, offer: Offer, method: str) -> date:
    if offer.kind == Kind.RENEWAL and offer.month:
        return subscriptions.deadline(Subscription.objects.get(account=account), offer.month.start)
    days = DAYS_TO_PAY if method == Method.INVOICE else CARD_DAYS_TO_PAY
    return timezone.now().date() + timedelta(days=days)


def _write_invoice(order: Order) -> None:
    if order.invoice_number is None:
        order.invoice_number = InvoiceCounter.next()
        order.invoiced_on = timezone.now().date()


def _book_purchase(order: Order, actor: User | None) -> None:
    if not order.credits:
        return
    kind, source = LedgerEntry.Kind.PURCHASE, f"order:{order.public_id}"
    if order.kind in (Kind.PLAN, Kind.RENEWAL):
        plan = cast(Plan, order.plan)
        kind = LedgerEntry.Kind.PLAN
        of_period = f"plan:{plan.code}:{order.account.public_id}:{order.period_start}"
        # A refunded month that is bought again is another purchase of the same period.
        if not LedgerEntry.objects.filter(source=of_period).exists():
            source = of_period
    services.book(
        account=order.account,
        kind=kind,
        amount=order.credits,
        source=source,
        actor=actor,
        reason=str(order),
        order=order,
    )
