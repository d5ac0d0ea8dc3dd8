"""Requests to Stripe. Customers pay on Stripe Checkout, so card numbers never reach our servers.

Packs and upgrades are one-time payments; a plan is a Stripe subscription, which renews
automatically. Stripe's events are handled in stripe_events.py.
"""

from contextlib import suppress
from typing import Any

import stripe
from django.conf import settings

from accounts.emails import link
from accounts.models import Account
from credits.models import AutomaticTopUp, Order, ProviderCancellation, Subscription
from credits.orders.quotes import price_with_tax
from credits.payments import PaymentUnavailable
from credits.payments.stripe_cards import find_or_create_customer
from credits.payments.stripe_client import get_client, handle_stripe_errors

Kind = Order.Kind
# Fields of an order that opening a Checkout session changes.
SESSION_FIELDS = ("state", "provider_session", "provider_url")


class Stripe:
    @handle_stripe_errors
    def begin(self, order: Order) -> None:
        """Open a Checkout session unless the order has one, because both could be paid."""
        if AutomaticTopUp.objects.filter(open_order=order).exists():
            raise PaymentUnavailable(
                "Automatic top-up is paying this order with your saved card. Check again in a "
                "minute."
            )
        order.refresh_from_db(fields=SESSION_FIELDS)
        old_session = order.provider_session
        if not order.is_pending or (old_session and _is_open_or_paid(old_session)):
            return
        session = get_client().v1.checkout.sessions.create(_session_params(order))
        # No lock is held during the request to Stripe. The first of concurrent callers stores its
        # session. The others expire theirs, whose URL was never shown.
        unchanged = Order.objects.pending().filter(pk=order.pk, provider_session=old_session)
        if not unchanged.update(provider_session=session.id, provider_url=session.url or ""):
            with suppress(stripe.StripeError):
                _expire(session.id)
        order.refresh_from_db(fields=SESSION_FIELDS)

    @handle_stripe_errors
    def withdraw(self, order: Order) -> None:
        # A concurrent request may have opened a session after this one read the order.
        order.refresh_from_db(fields=SESSION_FIELDS)
        if order.provider_session:
            # Raised if the session was paid or has expired.
            with suppress(stripe.InvalidRequestError):
                _expire(order.provider_session)

    @handle_stripe_errors
    def close(self, order: Order) -> bool:
        """Close the payment page for good. Returns False if it was paid before."""
        self.withdraw(order)
        return not (order.provider_session and _is_open_or_paid(order.provider_session))

    @handle_stripe_errors
    def refund(self, order: Order, cents: int) -> None:
        payment = order.provider_payment
        if order.provider_invoice:
            payment = payment or _find_payment_for_invoice(order.provider_invoice)
        if not payment:
            # Staff marked it paid, so it was not paid at Stripe. They return the money manually.
            return
        # Stripe refuses a second refund of another amount with this key. So of two concurrent
        # refunds, which both began before the other was recorded, only one is made.
        get_client().v1.refunds.create(
            {"payment_intent": payment, "amount": cents},
            {"idempotency_key": f"refund-{order.public_id}-{order.refunded_cents}"},
        )


@handle_stripe_errors
def sync_with_stripe(account: Account) -> None:
    """Cancel Stripe subscriptions that must end, and set the price of one that continues."""
    for cancellation in ProviderCancellation.objects.filter(account=account):
        # Raised if the subscription has ended already.
        with suppress(stripe.InvalidRequestError):
            get_client().v1.subscriptions.cancel(cancellation.provider_subscription)
        cancellation.delete()
    subscription = Subscription.objects.select_related("account", "next_plan").get(account=account)
    if subscription.renews_automatically:
        _update_stripe_price(subscription)


@handle_stripe_errors
def find_invoice_for_payment(payment: str) -> str:
    """Ask Stripe for the invoice of a payment, which charges of subscriptions don't name."""
    invoice_payments = get_client().v1.invoice_payments.list(
        {"payment": {"type": "payment_intent", "payment_intent": payment}}
    )
    return str(invoice_payments.data[0].invoice) if invoice_payments.data else ""


def _update_stripe_price(subscription: Subscription) -> None:
    """Make the Stripe subscription renew at the price of the next plan, or end for Free."""
    plan, stripe_id = subscription.next_plan, subscription.provider_subscription
    cents = price_with_tax(subscription.account, plan)
    if (plan.code, cents) == (subscription.provider_plan, subscription.provider_cents):
        return
    api = get_client().v1.subscriptions
    if plan.is_free:
        api.update(stripe_id, {"cancel_at_period_end": True})
    else:
        item = api.retrieve(stripe_id)["items"].data[0]
        price = {**_recurring_price(cents, settings.CURRENCY), "product": item.price.product}
        api.update(
            stripe_id,
            {
                "cancel_at_period_end": False,
                "items": [{"id": item.id, "price_data": price}],
                # Upgrades are paid with a separate order, so Stripe must not prorate.
                "proration_behavior": "none",
            },
        )
    # No lock is held: by now the account may have another subscription at Stripe.
    unchanged = Subscription.objects.filter(pk=subscription.pk, provider_subscription=stripe_id)
    unchanged.update(provider_plan=plan.code, provider_cents=cents)


def _is_open_or_paid(session_id: str) -> bool:
    """Return whether the session can still be paid, or was paid and its event is yet to arrive."""
    try:
        session = get_client().v1.checkout.sessions.retrieve(session_id)
    except stripe.InvalidRequestError:
        return False
    return bool(session.status == "open" or session.payment_status == "paid")


def _expire(session_id: str) -> None:
    get_client().v1.checkout.sessions.expire(session_id)


def _session_params(order: Order) -> dict[str, Any]:
    order_url = link("credits:show-order", order_id=order.public_id)
    renews = order.kind in (Kind.PLAN, Kind.RENEWAL)
    metadata = {"order": order.public_id}
    price: dict[str, Any] = {
        **(
            _recurring_price(order.total_cents, order.currency)
            if renews
            else _one_time_price(order)
        ),
        "product_data": {"name": order.description},
    }
    session: dict[str, Any] = {
        "mode": "subscription" if renews else "payment",
        "client_reference_id": order.public_id,
        "metadata": metadata,
        "line_items": [{"quantity": 1, "price_data": price}],
        "success_url": order_url,
        "cancel_url": order_url,
        "subscription_data" if renews else "payment_intent_data": {"metadata": metadata},
    }
    if order.saves_card:
        session["payment_method_types"] = ["card"]
        session["payment_intent_data"]["setup_future_usage"] = "off_session"
    return {**session, **_customer_params(order)}


def _customer_params(order: Order) -> dict[str, Any]:
    """Name the account's customer, if it has one, or if the card is to be saved for one."""
    customer = Subscription.objects.get(account=order.account).provider_customer
    if order.saves_card:
        customer = find_or_create_customer(order.account)
    if not customer:
        return {}
    # Offers the saved card. Without the filter, Checkout shows only cards that it saved itself.
    saved = {"allow_redisplay_filters": ["always", "limited", "unspecified"]}
    return {"customer": customer, "saved_payment_method_options": saved}


def _one_time_price(order: Order) -> dict[str, Any]:
    return {"currency": order.currency.lower(), "unit_amount": order.total_cents}


def _recurring_price(cents: int, currency: str) -> dict[str, Any]:
    return {
        "currency": currency.lower(),
        "unit_amount": cents,
        "recurring": {"interval": "month"},
    }


def _find_payment_for_invoice(invoice: str) -> str:
    payments = get_client().v1.invoice_payments.list({"invoice": invoice})
    return str(payments.data[0].payment.payment_intent) if payments.data else ""
