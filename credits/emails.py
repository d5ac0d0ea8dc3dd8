"""Queue emails about money, one function per email.

The recipients are an account's owners and the members with the role Billing.
"""

from datetime import date

from accounts.emails import link, queue_email
from accounts.models import Account
from accounts.roles import Role
from credits.models import Order, Plan, Wallet
from credits.money import format_money

RECIPIENT_ROLES = (Role.OWNER, Role.BILLING)


def queue_invoice(*, order: Order) -> None:
    template = "renewal" if order.kind == Order.Kind.RENEWAL else "invoice"
    _queue(template, order.account, **_order_context(order))


def queue_receipt(*, order: Order) -> None:
    _queue("receipt", order.account, **_order_context(order))


def queue_refund(*, order: Order, cents: int, plan: Plan | None) -> None:
    context = {**_order_context(order), "amount": format_money(cents, order.currency), "plan": plan}
    _queue("refund", order.account, **context)


def queue_payment_failed(*, account: Account, plan: Plan, ends_on: date) -> None:
    context = {"plan": plan, "ends_on": ends_on, "link": link("credits:show-billing")}
    _queue("payment_failed", account, **context)


def queue_plan_ended(*, account: Account, plan: Plan) -> None:
    _queue("plan_ended", account, plan=plan, link=link("credits:choose-plan"))


def queue_low_balance(*, account: Account, balance: int, threshold: int) -> None:
    context = {
        "balance": balance,
        "held": _held(account),
        "threshold": threshold,
        "link": link("credits:choose-pack"),
        "threshold_link": link("credits:show-billing"),
    }
    _queue("low_balance", account, **context)


def queue_zero_balance(*, account: Account) -> None:
    _queue("zero_balance", account, held=_held(account), link=link("credits:choose-pack"))


def _held(account: Account) -> int:
    return Wallet.objects.values_list("held", flat=True).get(account=account)


def _order_context(order: Order) -> dict[str, object]:
    return {
        "order": order,
        "amount": format_money(order.total_cents, order.currency),
        "link": link("credits:show-order", order_id=order.public_id),
    }


def _queue(template: str, account: Account, **context: object) -> None:
    members = account.memberships.select_related("user").order_by("pk")
    for member in members:
        if member.role in RECIPIENT_ROLES:
            queue_email(
                member.user.email,
                f"credits/mails/{template}",
                {"account": account, **context},
            )
