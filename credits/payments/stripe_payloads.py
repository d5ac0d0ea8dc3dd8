"""What Stripe's events tell of, and whose it is. Whatever a signed event holds, only what has the
right form is believed."""

from typing import Any

from accounts.models import Account
from credits.models import Order, ProviderCancellation, Subscription
from credits.payments.stripe import invoice_of_payment

# Stripe's ids are far shorter; our columns are as long.
LONGEST_ID = 100

Thing = dict[str, Any]


def text_in(thing: Thing, name: str) -> str:
    value = thing.get(name)
    return value if isinstance(value, str) and len(value) <= LONGEST_ID else ""


def whole_in(thing: Thing, name: str) -> int | None:
    value = thing.get(name)
    fits = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31
    return value if fits else None


def part_in(thing: Thing, name: str) -> Thing:
    value = thing.get(name)
    return value if isinstance(value, dict) else {}


def order_named_in(thing: Thing) -> Order | None:
    named = text_in(part_in(thing, "metadata"), "order")
    return Order.objects.select_related("account").filter(public_id=named or "none").first()


def account_of(thing: Thing) -> Account | None:
    """Whose it is, of ours: by the subscription it is about, or the order it names."""
    about = text_in(thing, "subscription") or text_in(_subscription_details(thing), "subscription")
    known = Subscription.objects.filter(provider_subscription=about or "none")
    subscription = known.select_related("account").first()
    if subscription is not None:
        return subscription.account
    leaving = ProviderCancellation.objects.filter(provider_subscription=about or "none")
    left = leaving.select_related("account").first()
    if left is not None:
        return left.account
    order = order_named_in(thing) or order_named_in(_subscription_details(thing))
    return order.account if order else None


def payment_in(invoice: Thing) -> str:
    payments = part_in(invoice, "payments").get("data")
    first = payments[0] if isinstance(payments, list) and payments else {}
    newer = part_in(first, "payment") if isinstance(first, dict) else {}
    return text_in(invoice, "payment_intent") or text_in(newer, "payment_intent")


def invoice_behind(charge: Thing) -> str:
    """Stripe is asked only where our own rows do not know the payment."""
    payment = text_in(charge, "payment_intent")
    if not payment or not is_of_our_customer(charge) or order_named_in(charge):
        return ""
    if Order.objects.filter(provider_payment=payment).exists():
        return ""
    return str(invoice_of_payment(payment))


def is_of_our_customer(charge: Thing) -> bool:
    customer = text_in(charge, "customer")
    return bool(customer) and Subscription.objects.filter(provider_customer=customer).exists()


def _subscription_details(thing: Thing) -> Thing:
    """Older versions of Stripe's API name them elsewhere than newer ones."""
    return part_in(part_in(thing, "parent") or thing, "subscription_details")
