"""The life of an order: placed, paid, cancelled, refunded. Whoever tells us that it was paid, and
however often, calls `fulfil_order`, which grants once.

Each act holds the account's row (`plans.locked`), so that an account's orders and its plan change
one after the other.
"""

from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, cast

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts import audit
from accounts.models import Account, User
from credits import emails, plans, services
from credits.models import InvoiceCounter, LedgerEntry, Order, Pack, Plan, Subscription
from credits.money import with_tax, without_tax
from credits.periods import Period, period_of

Kind, State, Method = Order.Kind, Order.State, Order.Method

DAYS_TO_PAY = 14
# A card's checkout is open for a day.
CARD_DAYS_TO_PAY = 1
MOST_WAITING = 10


class OrderRefused(Exception):
    """What cannot be ordered; the text is for the person who tried."""


@dataclass(frozen=True)
class Buyer:
    """To whom the invoice goes."""

    name: str
    address: str = ""
    tax_id: str = ""


@dataclass(frozen=True)
class Offer:
    """What choosing a pack or plan now means for this account."""

    kind: Order.Kind
    description: str
    credits: int
    net_cents: int


def offer_of(item: Pack | Plan, subscription: Subscription) -> Offer:
    if isinstance(item, Pack):
        return Offer(Kind.PACK, str(item), item.credits, item.price_cents)
    now = subscription.plan
    covered = not subscription.is_due(timezone.now().date())
    if item.is_free or (item.price_cents < now.price_cents and covered):
        raise OrderRefused(f"{item} is a lower plan: it begins when what you paid for ends.")
    if item == now and (covered or subscription.account.orders.pending().of_plans().exists()):
        raise OrderRefused(f"{item} is your plan already.")
    if now.is_free or not covered:
        return Offer(Kind.PLAN, f"{item} plan, one month", item.monthly_credits, item.price_cents)
    more = max(0, item.monthly_credits - now.monthly_credits)
    difference = item.price_cents - now.price_cents
    return Offer(Kind.UPGRADE, f"Upgrade from {now} to {item}", more, difference)


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
    subscription = plans.locked(account)
    placed = account.orders.filter(form_token=form_token).first() if form_token else None
    if placed is not None:
        return placed
    if not subscription.account.is_open:
        raise OrderRefused("The account is closed.")
    offer = offer_of(item, subscription)
    if offer.kind == Kind.PACK:
        _refuse_too_many(account)
    else:
        # Another plan was chosen before, and not paid.
        plans.cancel_waiting(account, Kind.PLAN, Kind.UPGRADE)
    order = _place(account, item, offer, buyer=buyer, placed_by=actor.email, form_token=form_token)
    audit.record(account, actor, "order.placed", str(order), ip)
    return order


@transaction.atomic
def start_renewal(
    *, account: Account, plan: Plan, period: Period, due_on: date, paid_cents: int | None = None
) -> Order:
    """For the day's work, and for a provider that renewed by itself and says what was paid.

    The account is locked.
    """
    description = f"{plan} plan, {period.start} to {period.end}"
    net_cents = plan.price_cents if paid_cents is None else without_tax(paid_cents, tax_rate())
    offer = Offer(Kind.RENEWAL, description, plan.monthly_credits, net_cents)
    return _place(
        account,
        plan,
        offer,
        buyer=last_buyer(account),
        placed_by="system",
        period_start=period.start,
        period_end=period.end,
        due_on=due_on,
    )


def price_with_tax(plan: Plan) -> int:
    return with_tax(plan.price_cents, tax_rate()).total_cents


def method_in_use() -> str:
    return Method.STRIPE if settings.STRIPE_SECRET_KEY else Method.INVOICE


def last_buyer(account: Account) -> Buyer:
    """Whom the account's last invoice was for; a first one is for the account itself."""
    last = account.orders.first()
    if last is None:
        return Buyer(account.name)
    return Buyer(last.buyer_name, last.buyer_address, last.buyer_tax_id)


@transaction.atomic
def fulfil_order(
    *,
    order: Order,
    actor: User | None = None,
    ip: str | None = None,
    **learned: str,
) -> bool:
    """What was paid for is granted: once, however often and at once this is called.

    Also for an order that was cancelled meanwhile: its money came. `learned` is what the payment
    provider calls the parts of it.
    """
    subscription = plans.locked(order.account)
    order.refresh_from_db()
    if order.state in (State.PAID, State.REFUNDED):
        return False
    if order.kind != Kind.PACK:
        _begin_plan(order, subscription)
    order.state, order.paid_at = State.PAID, timezone.now()
    _write_invoice(order)
    for name, value in learned.items():
        setattr(order, name, value)
    order.save()
    _book_purchase(order, actor)
    if order.refunded_cents:
        # Told before the payment was.
        _take_share(order, 0, None, "")
    plans.set_terms(order.account)
    # Who buys gets what Free gives as well, whoever else has the mailbox's sign-up credits.
    Subscription.objects.filter(account=order.account).update(gets_free_credits=True)
    audit.record(order.account, actor, "order.paid", str(order), ip)
    emails.queue_receipt(order=order)
    return True


@transaction.atomic
def cancel_order(*, order: Order, actor: User | None = None, ip: str | None = None) -> bool:
    """False when it does not wait any more."""
    plans.locked(order.account)
    waiting = Order.objects.pending().filter(pk=order.pk)
    if not waiting.update(state=State.CANCELLED, cancelled_at=timezone.now()):
        return False
    audit.record(order.account, actor, "order.cancelled", str(order), ip)
    return True


@transaction.atomic
def refund_order(
    *,
    order: Order,
    cents: int | None = None,
    actor: User | None = None,
    reason: str = "",
    ip: str | None = None,
) -> bool:
    """The credits of what was given back are taken: those that are left, the rest is debt.

    `cents` is all that was given back of it so far; without it, everything. A refund that is told
    before the payment leaves nothing to grant.
    """
    subscription = plans.locked(order.account)
    order.refresh_from_db()
    cents = order.total_cents if cents is None else min(cents, order.total_cents)
    if cents <= order.refunded_cents:
        return False
    was_paid, before = order.is_paid, order.refunded_cents
    order.refunded_cents = cents
    if cents == order.total_cents:
        order.state, order.refunded_at = State.REFUNDED, timezone.now()
    order.save()
    if was_paid:
        _take_share(order, before, actor, reason)
    if order.state == State.REFUNDED:
        _end_refunded_plan(order, subscription)
        plans.set_terms(order.account)
    words = f"{order}: {reason}" if reason else str(order)
    audit.record(order.account, actor, "order.refunded", words, ip)
    emails.queue_refund(order=order, cents=cents - before)
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
    today, method = timezone.now().date(), method_in_use()
    amount = with_tax(offer.net_cents, tax_rate())
    days = DAYS_TO_PAY if method == Method.INVOICE else CARD_DAYS_TO_PAY
    more.setdefault("due_on", today + timedelta(days=days))
    pack = item if isinstance(item, Pack) else None
    plan = item if isinstance(item, Plan) else None
    order = Order(
        account=account,
        kind=offer.kind,
        method=method,
        pack=pack,
        plan=plan,
        requests_per_minute=pack.requests_per_minute if pack else None,
        description=offer.description,
        credits=offer.credits,
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
        **more,
    )
    if method == Method.INVOICE:
        _write_invoice(order)
        emails.queue_invoice(order=order)
    order.save()
    return order


def tax_rate() -> Decimal:
    return Decimal(str(settings.TAX_RATE))


def _write_invoice(order: Order) -> None:
    if order.invoice_number is None:
        order.invoice_number = InvoiceCounter.next()
        order.invoiced_on = timezone.now().date()


def _begin_plan(order: Order, subscription: Subscription) -> None:
    """Sets the account's plan, and the period the order turns out to pay for."""
    plan, today = cast(Plan, order.plan), timezone.now().date()
    covered = not subscription.is_due(today) and not subscription.plan.is_free
    if order.period_end and not subscription.plan.is_free:
        # A renewal. A lower plan waits for its day; what was a plan's last days is not cut short.
        subscription.covered_until = max(subscription.covered_until, order.period_end)
        subscription.save(update_fields=["covered_until"])
        return
    if covered and plan == subscription.plan and order.kind == Kind.PLAN:
        # Paid twice: the next month is covered too.
        period = period_of(subscription.covered_until, subscription.started_on)
        subscription.covered_until = period.end
        subscription.save(update_fields=["covered_until"])
    elif covered and plan.price_cents >= subscription.plan.price_cents:
        plans.cancel_waiting(order.account, Kind.RENEWAL)
        plans.have(subscription, plan)
        period = subscription.period
    elif covered:
        # An old invoice of a lower plan: its credits, and the higher plan stays.
        period = subscription.period
    else:
        plans.start_period(subscription, plan, today)
        period = subscription.period
    order.period_start, order.period_end = period.start, period.end


def _book_purchase(order: Order, actor: User | None) -> None:
    if not order.credits:
        return
    kind, source = LedgerEntry.Kind.PURCHASE, f"order:{order.public_id}"
    if order.kind in (Kind.PLAN, Kind.RENEWAL):
        kind = LedgerEntry.Kind.PLAN
        of_period = f"plan:{order.plan.code}:{order.account.public_id}:{order.period_start}"  # type: ignore[union-attr]
        # Two orders may turn out to pay for one period: each brings what was paid for.
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


def _take_share(order: Order, before: int, actor: User | None, reason: str) -> None:
    """As much of the credits as of the money."""
    total = order.total_cents
    share = order.credits * order.refunded_cents // total - order.credits * before // total
    if share:
        services.book(
            account=order.account,
            kind=LedgerEntry.Kind.REFUND,
            amount=share,
            source=f"refund:{order.public_id}:{order.refunded_cents}",
            actor=actor,
            reason=f"{order}. {reason}".strip(". "),
            order=order,
        )


def _end_refunded_plan(order: Order, subscription: Subscription) -> None:
    """The plan is the highest that is still paid for today."""
    today = timezone.now().date()
    if order.kind == Kind.PACK or order.plan != subscription.plan or order.period_start is None:
        return
    if order.period_start > today:
        subscription.covered_until = min(subscription.covered_until, order.period_start)
        subscription.save(update_fields=["covered_until"])
        return
    paid = order.account.orders.filter(
        state=State.PAID, plan__isnull=False, period_start__lte=today, period_end__gt=today
    )
    still = paid.order_by("-plan__price_cents").first()
    plan = still.plan if still and still.plan else Plan.objects.free()
    if plan.is_free:
        subscription.covered_until = subscription.period.end
    plans.have(subscription, plan)
