"""Actions of customers for the tests of orders. Plans are identified by their code."""

from accounts.models import Account, User
from accounts.services import open_account, run_email_confirmed_hooks
from credits.models import Order, Pack, Plan, Wallet
from credits.orders import fulfillment, placement
from credits.orders.quotes import Buyer, quote
from credits.plans import changes
from credits.wallet.charges import Charge, charge_account
from tests.conftest import make_user
from tests.credits.time_travel import on


def sign_up(email: str, name: str = "") -> Account:
    """Open an account with sign-up credits, as a user who has confirmed their address."""
    user = make_user(email)
    account = open_account(user=user, name=name)
    run_email_confirmed_hooks(user=user)
    return account


def plan(code: str) -> Plan:
    return Plan.objects.get(code=code)


def get_buyer(shop: Account) -> User:
    return shop.memberships.earliest("pk").user


def place_order(shop: Account, item: Pack | Plan | str, form_token: str | None = None) -> Order:
    offered = quote(shop, plan(item) if isinstance(item, str) else item)
    return placement.place_order(
        quote=offered, buyer=Buyer("The Shop Ltd"), actor=get_buyer(shop), form_token=form_token
    )


def order_form(account: Account, item: Pack | str) -> dict[str, str]:
    """Return the form of an order's page, which carries the terms that the page shows."""
    terms = quote(account, plan(item) if isinstance(item, str) else item).terms
    fields = {"name": "The Shop Ltd", "country": "US"}
    return {**fields, "form_token": "a" * 32, "terms": terms}


def pay(order: Order) -> None:
    fulfillment.fulfill_order(order=order)


def subscribe(shop: Account, code: str, day: str = "2026-11-25") -> Order:
    with on(day):
        order = place_order(shop, code)
        pay(order)
    return order


def schedule_lower_plan(shop: Account, code: str) -> None:
    changes.schedule_plan(account=shop, plan=plan(code), actor=get_buyer(shop))


def use_credits(shop: Account, amount: int) -> None:
    charge_account(Charge(account=shop, key=None, verdict="risky", cost=amount, duration_ms=1))


def balance(shop: Account) -> int:
    return Wallet.objects.get(account=shop).balance


def balance_and_debt(shop: Account) -> tuple[int, int]:
    wallet = Wallet.objects.get(account=shop)
    return wallet.balance, wallet.debt


def get_rate_limit(shop: Account) -> int:
    return Account.objects.get(pk=shop.pk).request_limit


def pending_order(shop: Account) -> Order:
    return shop.orders.pending().get()
