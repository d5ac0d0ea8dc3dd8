"""What customers do with plans, in the words of the stories. A plan is named by its code."""

from accounts.models import Account, User
from credits.models import Order, Pack, Plan
from credits.orders import lifecycle
from credits.orders.lifecycle import Buyer
from credits.plans import subscriptions as module
from credits.wallet.charges import Charge, charge
from tests.credits.days import on


def plan(code: str) -> Plan:
    return Plan.objects.get(code=code)


def buyer_of(shop: Account) -> User:
    return shop.memberships.get().user


def order(shop: Account, item: Pack | str) -> Order:
    return lifecycle.start_order(
        account=shop,
        item=plan(item) if isinstance(item, str) else item,
        buyer=Buyer("The Shop Ltd"),
        actor=buyer_of(shop),
    )


def pay(placed: Order) -> None:
    lifecycle.fulfil_order(order=placed)


def subscribe(shop: Account, code: str, day: str = "2026-11-25") -> Order:
    with on(day):
        placed = order(shop, code)
        pay(placed)
    return placed


def choose_lower(shop: Account, code: str) -> None:
    module.choose_plan(account=shop, plan=plan(code), actor=buyer_of(shop))


def use(shop: Account, amount: int) -> None:
    charge(Charge(account=shop, key=None, verdict="risky", cost=amount, duration_ms=1))


def limit_of(shop: Account) -> int:
    return Account.objects.get(pk=shop.pk).request_limit


def waiting(shop: Account) -> Order:
    return shop.orders.pending().get()
