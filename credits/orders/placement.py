"""Place and cancel orders under the account's lock."""

from datetime import date, timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts import audit
from accounts.models import User
from credits import emails
from credits.models import CARD_CONSENT, Order, OrderKind, OrderMethod, Pack, Plan, Subscription
from credits.orders.quotes import Buyer, Quote, last_buyer, quote_again, quote_renewal
from credits.plans import subscriptions
from credits.plans.offers import OrderRefused
from credits.plans.periods import Period

DAYS_TO_PAY = 14
# Stripe Checkout sessions expire after 24 hours.
CARD_DAYS_TO_PAY = 1
MAX_PENDING_ORDERS = 10
AUTOMATIC_TOP_UP = "automatic top-up"


@transaction.atomic
def place_order(
    *,
    quote: Quote,
    buyer: Buyer,
    actor: User,
    form_token: str | None = None,
    saves_card: bool = False,
) -> Order:
    """Place an order, or return the one that this form has placed.

    Raises QuoteChanged if the terms have changed. `saves_card`: the actor has agreed to
    CARD_CONSENT.
    """
    account = quote.account
    subscription = subscriptions.lock_subscription(account)
    existing = account.orders.filter(form_token=form_token).first() if form_token else None
    if existing is not None:
        return existing
    if not subscription.account.is_open:
        raise OrderRefused("This account is closed. Reopen it to place orders.")
    current = quote_again(quote, buyer)
    if current.pending is not None:
        return current.pending
    if isinstance(current.item, Pack):
        if account.orders.pending().count() >= MAX_PENDING_ORDERS:
            raise OrderRefused(
                f"Your account already has {MAX_PENDING_ORDERS} orders waiting for payment. "
                "Pay or cancel one first."
            )
    elif current.kind == OrderKind.RENEWAL:
        # In the grace period, ordering a plan also makes it the next plan.
        subscription.next_plan = current.item
        subscription.save(update_fields=["next_plan"])
    order = _create_order(current, subscription, buyer, actor.email, form_token)
    audit.record(account, actor, "order.placed", str(order))
    if saves_card and current.can_save_card:
        order.saves_card = True
        order.save(update_fields=["saves_card"])
        audit.record(account, actor, "card.agreed", CARD_CONSENT)
    return order


@transaction.atomic
def place_renewal(
    *, subscription: Subscription, plan: Plan, month: Period, paid_cents: int | None = None
) -> Order:
    """Replace a pending renewal. The caller has locked the account."""
    account = subscription.account
    quote = quote_renewal(account, plan, month, paid_cents)
    order = _create_order(quote, subscription, last_buyer(account), placed_by="system")
    if order.method == OrderMethod.STRIPE and paid_cents is None:
        emails.queue_invoice(order=order)
    return order


@transaction.atomic
def place_automatic_order(*, quote: Quote) -> Order:
    account = quote.account
    subscription = subscriptions.lock_subscription(account)
    order = _create_order(quote, subscription, last_buyer(account), placed_by=AUTOMATIC_TOP_UP)
    audit.record(account, None, "order.placed", str(order))
    return order


@transaction.atomic
def cancel_order(*, order: Order, actor: User | None = None) -> bool:
    """Return False if the order isn't pending."""
    subscriptions.lock_subscription(order.account)
    if not Order.objects.pending().filter(pk=order.pk).cancel():
        return False
    audit.record(order.account, actor, "order.cancelled", str(order))
    return True


def _create_order(
    quote: Quote,
    subscription: Subscription,
    buyer: Buyer,
    placed_by: str,
    form_token: str | None = None,
) -> Order:
    Order.objects.pending().filter(pk__in=[order.pk for order in quote.replaced]).cancel()
    item, period, is_invoice = quote.item, quote.period, quote.method == OrderMethod.INVOICE
    order = Order(
        account=quote.account,
        kind=quote.kind,
        method=quote.method,
        pack=item if isinstance(item, Pack) else None,
        plan=item if isinstance(item, Plan) else None,
        requests_per_minute=quote.requests_per_minute if isinstance(item, Pack) else None,
        description=quote.description,
        credits=quote.credits,
        period_start=period.start if period else None,
        period_end=period.end if period else None,
        net_cents=quote.amount.net_cents,
        tax_cents=quote.amount.tax_cents,
        tax_rate=quote.tax.rate,
        tax_reason=quote.tax.reason,
        currency=quote.currency,
        payment_details=settings.INVOICE_PAYMENT_DETAILS if is_invoice else "",
        buyer_name=buyer.name,
        buyer_address=buyer.address,
        buyer_tax_id=buyer.tax_id,
        buyer_country=buyer.country,
        seller_name=settings.SELLER_NAME,
        seller_address=settings.SELLER_ADDRESS,
        seller_tax_id=settings.SELLER_TAX_ID,
        placed_by=placed_by,
        due_on=_due_on(quote, subscription),
        form_token=form_token,
    )
    if is_invoice:
        order.assign_invoice_number()
        emails.queue_invoice(order=order)
    order.save()
    order.draw_invoice()
    return order


def _due_on(quote: Quote, subscription: Subscription) -> date:
    if quote.kind == OrderKind.RENEWAL and quote.period:
        return subscriptions.renewal_due_date(subscription, quote.period.start)
    days = DAYS_TO_PAY if quote.method == OrderMethod.INVOICE else CARD_DAYS_TO_PAY
    return timezone.now().date() + timedelta(days=days)
