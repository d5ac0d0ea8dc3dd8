"""An account with a saved card and automatic top-up, and what its orders led to."""

from datetime import timedelta

from accounts.models import Account
from credits.automatic_top_ups.services import switch_on
from credits.models import AutomaticTopUp, Order, Pack, SavedCard, Wallet
from credits.payments.automatic_orders import pay_due_orders
from runtime.models import Mail
from tests.credits.customers import get_buyer
from tests.servers.stripe import FakeStripe

CUSTOMER = "cus_shop"
# Pack and price of the smallest pack, without tax.
CREDITS, PRICE = 1_000, 500


def give_card(stripe: FakeStripe, account: Account) -> SavedCard:
    card = stripe.new_card(CUSTOMER)
    details = card["card"]
    saved, _ = SavedCard.objects.update_or_create(
        account=account,
        defaults={
            "provider_card": card["id"],
            "provider_customer": CUSTOMER,
            "brand": "Visa",
            "last_four": details["last4"],
            "expires_month": details["exp_month"],
            "expires_year": details["exp_year"],
        },
    )
    return saved


def switch_on_top_up(
    account: Account, *, threshold: int = 500, cap_cents: int = 3 * PRICE, pack: Pack | None = None
) -> AutomaticTopUp:
    pack = pack or Pack.objects.earliest("credits")
    actor = get_buyer(account)
    switch_on(account=account, threshold=threshold, pack=pack, cap_cents=cap_cents, actor=actor)
    return get_top_up(account)


def get_top_up(account: Account) -> AutomaticTopUp:
    return AutomaticTopUp.objects.get(account=account)


def run_worker() -> None:
    pay_due_orders()


def run_worker_later(minutes: int = 11) -> None:
    """Run the worker as if this many minutes had passed since it last did something."""
    passed = timedelta(minutes=minutes)
    for top_up in AutomaticTopUp.objects.all():
        if top_up.last_order_at is not None:
            top_up.last_order_at -= passed
        top_up.next_attempt_at -= passed
        if top_up.leased_until is not None:
            top_up.leased_until -= passed
        top_up.save()
    run_worker()


def set_balance(account: Account, balance: int) -> None:
    Wallet.objects.filter(account=account).update(balance=balance)


def order_states(account: Account) -> list[str]:
    return [order.state for order in account.orders.order_by("pk")]


def last_order(account: Account) -> Order:
    return account.orders.latest("pk")


def subjects() -> list[str]:
    """Return the subjects of all emails, oldest first."""
    return list(Mail.objects.order_by("pk").values_list("subject", flat=True))


def audited(account: Account) -> list[str]:
    entries = account.audit_entries.order_by("pk")
    return list(entries.values_list("action", flat=True))
