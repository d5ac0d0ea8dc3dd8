"""What customers do with plans, in the words of the stories."""

from accounts.models import Account, User
from credits import orders
from credits import plans as module
from credits.charges import charge
from credits.models import Order, Plan
from credits.orders import Buyer
from tests.credits.days import on


def order(shop: Account, buyer: User, plan: Plan) -> Order:
    return orders.start_order(account=shop, item=plan, buyer=Buyer("The Shop Ltd"), actor=buyer)


def pay(placed: Order) -> None:
    orders.fulfil_order(order=placed)


def subscribe(shop: Account, buyer: User, plan: Plan, day: str = "2026-11-25") -> None:
    with on(day):
        pay(order(shop, buyer, plan))


def choose_lower(shop: Account, buyer: User, plan: Plan) -> None:
    module.choose_plan(account=shop, plan=plan, actor=buyer)


def use(shop: Account, amount: int) -> None:
    charge(account=shop, key=None, verdict="risky", cost=amount, duration_ms=1)


def limit_of(shop: Account) -> int:
    return Account.objects.get(pk=shop.pk).request_limit


def waiting(shop: Account) -> Order:
    return shop.orders.pending().get()
