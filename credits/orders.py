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
from credits.coverage import month_from
from credits.models import InvoiceCounter, LedgerEntry, Order, Pack, Plan, Subscription
from credits.money import with_tax, without_tax
from credits.periods import Period

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
    # Of an upgrade and a renewal: what it is sold for.
    month: Period | None = None


def offer_of(item: Pack | Plan, subscription: Subscription) -> Offer:
    if isinstance(item, Pack):
        return Offer(Kind.PACK, str(item), item.credits, item.price_cents)
    now = plans.standing_of(subscription)
    if item.is_free:
        raise OrderRefused("Free is not bought: it begins when what you paid for ends.")
    if now.plan is None or now.covered_until is None:
        return Offer(Kind.PLAN, f"{item} plan, one month", item.monthly_credits, item.price_cents)
    if now.is_due:
        return _renewal(item, month_from(now.covered_until, subscription.started_on))
    if item == now.plan:
        raise OrderRefused(f"You have {item} already.")
    if item.price_cents <= now.plan.price_cents:
        raise OrderRefused(f"You have {now.plan}: {item} is chosen for when that ends.")
    return _upgrade(item, subscription, now.covered_until)


def _upgrade(item: Plan, subscription: Subscription, covered_until: date) -> Offer:
    """For all that is covered: its price and credits less those that were paid for it."""
    today = timezone.now().date()
    paid = subscription.account.orders.filter(state=State.PAID, period_end__gt=today).of_plans()
    covering = [order for order in paid if order.period_start]
    months = sum(order.kind != Kind.UPGRADE for order in covering)
    net_cents = item.price_cents * months - sum(order.net_cents for order in covering)
    credits = item.monthly_credits * months - sum(order.credits for order in covering)
    if net_cents <= 0:
        raise OrderRefused(f"{item} costs no more than you paid. Write to support to change to it.")
    start = min(order.period_start for order in covering if order.period_start)
    return Offer(
        Kind.UPGRADE,
        f"Upgrade from {subscription.plan} to {item} until {_last_day(covered_until)}",
        max(0, credits),
        net_cents,
        Period(start, covered_until),
    )


def _renewal(plan: Plan, month: Period, net_cents: int | None = None) -> Offer:
    return Offer(
        Kind.RENEWAL,
        f"{plan} plan, {month.start:%d %b %Y} to {_last_day(month.end)}",
        plan.monthly_credits,
        plan.price_cents if net_cents is None else net_cents,
        month,
    )


def _last_day(end: date) -> str:
    """People count the last day as part of it."""
    return f"{end - timedelta(days=1):%d %b %Y}"


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
    waiting.update(state=State.CANCELLED, cancelled_at=timezone.now())


@transaction.atomic
def start_renewal(
    *, subscription: Subscription, plan: Plan, month: Period, paid_cents: int | None = None
) -> Order:
    """For the day's work, and for a provider that renewed by itself and says what was paid.

    The account is locked.
    """
    account = subscription.account
    account.orders.pending().filter(kind=Kind.RENEWAL).update(
        state=State.CANCELLED, cancelled_at=timezone.now()
    )
    is_paid = paid_cents is not None
    net_cents = without_tax(paid_cents, tax_rate()) if paid_cents is not None else None
    offer = _renewal(plan, month, net_cents)
    order = _place(account, plan, offer, buyer=last_buyer(account), placed_by="system")
    if order.method == Method.STRIPE and not is_paid:
        emails.queue_invoice(order=order)
    return order


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
    *, order: Order, actor: User | None = None, ip: str | None = None, **learned: str
) -> bool:
    """What was paid for is granted: once, however often and at once this is called.

    Also for an order that was cancelled meanwhile: its money came. `learned` is what the payment
    provider calls the parts of it.
    """
    subscription = plans.locked(order.account)
    order.refresh_from_db()
    if order.state in (State.PAID, State.REFUNDED):
        return False
    if order.kind in (Kind.PLAN, Kind.RENEWAL):
        month = plans.place_month(subscription)
        order.period_start, order.period_end = month.start, month.end
    order.state, order.paid_at = State.PAID, timezone.now()
    _write_invoice(order)
    for name, value in learned.items():
        setattr(order, name, value)
    order.save()
    _book_purchase(order, actor)
    if order.refunded_cents:
        # Told before the payment was.
        _take_share(order, 0, None, "")
    _follow_order(order, subscription)
    audit.record(order.account, actor, "order.paid", str(order), ip)
    emails.queue_receipt(order=order)
    return True


def _follow_order(order: Order, subscription: Subscription) -> None:
    """The plan that was bought is the one wanted from now on; a renewal changes nothing of that."""
    today = timezone.now().date()
    if order.kind == Kind.PLAN or (order.kind == Kind.UPGRADE and _holds(order, today)):
        subscription.next_plan = cast(Plan, order.plan)
        waiting = order.account.orders.pending().filter(kind=Kind.RENEWAL)
        waiting.update(state=State.CANCELLED, cancelled_at=timezone.now())
    elif subscription.next_plan.is_free and order.period_start == today:
        # A renewal that is paid on its last day, or after the plan had ended: it is back.
        subscription.next_plan = cast(Plan, order.plan)
    plans.settle(subscription)


def _holds(order: Order, day: date) -> bool:
    return bool(order.period_end and order.period_end > day)


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
    told_by_provider: bool = False,
) -> bool:
    """The credits of what was given back are taken: those that are left, the rest is debt.

    `cents` is all that was given back of it so far; without it, everything. A provider may tell of
    a refund before it tells of the payment, which then leaves nothing to grant.
    """
    subscription = plans.locked(order.account)
    order.refresh_from_db()
    cents = order.total_cents if cents is None else min(cents, order.total_cents)
    if cents <= order.refunded_cents or not (order.is_paid or told_by_provider):
        return False
    if not told_by_provider:
        refuse_refund(order)
    was_paid, before = order.is_paid, order.refunded_cents
    order.refunded_cents = cents
    if cents == order.total_cents:
        order.state, order.refunded_at = State.REFUNDED, timezone.now()
    order.save()
    if was_paid:
        _take_share(order, before, actor, reason)
    if order.state == State.REFUNDED:
        _end_refunded(order, subscription)
    words = f"{order}: {reason}" if reason else str(order)
    audit.record(order.account, actor, "order.refunded", words, ip)
    plan = subscription.plan if order.state == State.REFUNDED and order.plan else None
    emails.queue_refund(order=order, cents=cents - before, plan=plan)
    return True


def _end_refunded(order: Order, subscription: Subscription) -> None:
    """What the refund leaves of the plan is wanted from now on; an old month's changes nothing."""
    today = timezone.now().date()
    if order.kind != Kind.PACK and _holds(order, today):
        left = plans.coverage_of(order.account).plan_on(today)
        subscription.next_plan = left or Plan.objects.free()
        # What was to follow it, or to be built on it; another plan that was ordered waits on.
        following = order.account.orders.pending().filter(kind__in=(Kind.RENEWAL, Kind.UPGRADE))
        following.update(state=State.CANCELLED, cancelled_at=timezone.now())
    plans.settle(subscription)


def refuse_refund(order: Order) -> None:
    """An upgrade that is paid would be worth nothing without the month it is built on."""
    if order.kind in (Kind.PACK, Kind.UPGRADE) or order.period_start is None:
        return
    built = order.account.orders.filter(
        kind=Kind.UPGRADE,
        state=State.PAID,
        period_start__lt=order.period_end,
        period_end__gt=max(order.period_start, timezone.now().date()),
    ).first()
    if built is not None:
        raise OrderRefused(f"Refund {built.number} first: that upgrade is built on this month.")


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
        return plans.deadline(Subscription.objects.get(account=account), offer.month.start)
    days = DAYS_TO_PAY if method == Method.INVOICE else CARD_DAYS_TO_PAY
    return timezone.now().date() + timedelta(days=days)


def tax_rate() -> Decimal:
    return Decimal(str(settings.TAX_RATE))


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
