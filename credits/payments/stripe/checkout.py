"""Payment on Stripe Checkout: packs and upgrades once, plans as Stripe subscriptions."""

from contextlib import suppress
from typing import Any

import stripe
from django.conf import settings

from accounts.emails import link
from accounts.models import Account
from credits.models import AutomaticTopUp, Order, OrderKind, ProviderCancellation, Subscription
from credits.orders.quotes import price_with_tax
from credits.payments import PaymentUnavailable
from credits.payments.stripe.cards import find_or_create_customer
from credits.payments.stripe.client import get_client, handle_stripe_errors

# Fields that opening a session changes.
SESSION_FIELDS = ("state", "provider_session", "provider_url")


class Stripe:
    @handle_stripe_errors
    def begin(self, order: Order) -> bool:
        """Open a session for the payment, unless there is one: two could both be paid.

        Return False if there is nothing to pay, even if the event that says so hasn't arrived.
        """
        order.refresh_from_db(fields=SESSION_FIELDS)
        old_session = order.provider_session
        if not order.is_pending:
            return False
        if AutomaticTopUp.objects.filter(open_order=order).exists():
            raise PaymentUnavailable(
                "Automatic top-up is paying this order with your saved card. Check again in a "
                "minute."
            )
        if old_session and (status := _session_status(old_session)):
            return status == "open"
        session = get_client().v1.checkout.sessions.create(_session_params(order))
        # Without a lock during the request, the first caller stores its session. Others expire
        # theirs.
        unchanged = Order.objects.pending().filter(pk=order.pk, provider_session=old_session)
        if not unchanged.update(provider_session=session.id, provider_url=session.url or ""):
            with suppress(stripe.StripeError):
                _expire(session.id)
        order.refresh_from_db(fields=SESSION_FIELDS)
        return order.is_pending

    @handle_stripe_errors
    def withdraw(self, order: Order) -> None:
        """Prevent the payment of a canceled order."""
        # A concurrent request may have opened a session.
        order.refresh_from_db(fields=SESSION_FIELDS)
        if order.provider_session:
            # Raised if it was paid or has expired.
            with suppress(stripe.InvalidRequestError):
                _expire(order.provider_session)

    @handle_stripe_errors
    def close(self, order: Order) -> bool:
        """Return False if the order was paid before."""
        self.withdraw(order)
        return not (order.provider_session and _session_status(order.provider_session))

    @handle_stripe_errors
    def refund(self, order: Order, cents: int) -> None:
        """Return this much more money. Idempotent until the refund is recorded."""
        payment = order.provider_payment
        if order.provider_invoice and not payment:
            found = get_client().v1.invoice_payments.list({"invoice": order.provider_invoice})
            payment = str(found.data[0].payment.payment_intent) if found.data else ""
        if not payment:
            # Staff marked the order paid, so they return the money.
            return
        # Stripe refuses another amount with this key: only one of two concurrent refunds is made.
        get_client().v1.refunds.create(
            {"payment_intent": payment, "amount": cents},
            {"idempotency_key": f"refund-{order.public_id}-{order.refunded_cents}"},
        )


@handle_stripe_errors
def sync_with_stripe(account: Account) -> None:
    for cancellation in ProviderCancellation.objects.filter(account=account):
        # Raised if the subscription has ended.
        with suppress(stripe.InvalidRequestError):
            get_client().v1.subscriptions.cancel(cancellation.provider_subscription)
        cancellation.delete()
    subscription = Subscription.objects.select_related("account", "next_plan").get(account=account)
    if subscription.renews_automatically:
        _update_stripe_price(subscription)


@handle_stripe_errors
def find_invoice_for_payment(payment: str) -> str:
    """Return the invoice, which charges of subscriptions don't name."""
    invoice_payments = get_client().v1.invoice_payments.list(
        {"payment": {"type": "payment_intent", "payment_intent": payment}}
    )
    return str(invoice_payments.data[0].invoice) if invoice_payments.data else ""


def _update_stripe_price(subscription: Subscription) -> None:
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
                # Upgrades are paid with a separate order.
                "proration_behavior": "none",
            },
        )
    # No lock is held: there may be another subscription now.
    unchanged = Subscription.objects.filter(pk=subscription.pk, provider_subscription=stripe_id)
    unchanged.update(provider_plan=plan.code, provider_cents=cents)


def _session_status(session_id: str) -> str:
    """Return "open" or "paid", or nothing if it can't be paid any more."""
    try:
        session = get_client().v1.checkout.sessions.retrieve(session_id)
    except stripe.InvalidRequestError:
        return ""
    if session.payment_status == "paid":
        return "paid"
    return "open" if session.status == "open" else ""


def _expire(session_id: str) -> None:
    get_client().v1.checkout.sessions.expire(session_id)


def _session_params(order: Order) -> dict[str, Any]:
    order_url = link("credits:show-order", order_id=order.public_id)
    renews = order.kind in (OrderKind.PLAN, OrderKind.RENEWAL)
    metadata = {"order": order.public_id}
    price: dict[str, Any] = {
        **(
            _recurring_price(order.total_cents, order.currency)
            if renews
            else {"currency": order.currency.lower(), "unit_amount": order.total_cents}
        ),
        "product_data": {"name": order.description},
    }
    session: dict[str, Any] = {
        "mode": "subscription" if renews else "payment",
        "client_reference_id": order.public_id,
        "metadata": metadata,
        "line_items": [{"quantity": 1, "price_data": price}],
        "success_url": f"{order_url}?payment=finished",
        "cancel_url": order_url,
        "subscription_data" if renews else "payment_intent_data": {"metadata": metadata},
    }
    if order.saves_card:
        session["payment_method_types"] = ["card"]
        session["payment_intent_data"]["setup_future_usage"] = "off_session"
    return {**session, **_customer_params(order)}


def _customer_params(order: Order) -> dict[str, Any]:
    """Saving a card requires a customer."""
    customer = Subscription.objects.get(account=order.account).provider_customer
    if order.saves_card:
        customer = find_or_create_customer(order.account)
    if not customer:
        return {}
    # Otherwise, Checkout shows only cards that it saved.
    saved = {"allow_redisplay_filters": ["always", "limited", "unspecified"]}
    return {"customer": customer, "saved_payment_method_options": saved}


def _recurring_price(cents: int, currency: str) -> dict[str, Any]:
    return {"currency": currency.lower(), "unit_amount": cents, "recurring": {"interval": "month"}}
