"""What staff do about credits and money: each act calls one service and says what happened."""

from contextlib import suppress
from typing import Any

from accounts import audit
from accounts import services as accounts
from accounts.models import Account
from credits import offers, orders, plans, refunds, services
from credits.charges import in_words
from credits.forms import AmountForm, ConfirmForm, PlanForm, ReasonForm
from credits.models import Order, Wallet
from credits.payments import PaymentUnavailable, catch_up, method_of
from credits.staff import ActRefused, StaffAct

SENT_BEFORE = "This form was sent before: nothing was done twice."


def _grant(account: Account, data: dict[str, Any], request: Any) -> str:
    done = services.grant(account=account, actor=request.user, ip=request.ip, **data)
    if not done:
        raise ActRefused(SENT_BEFORE)
    return f"Granted {in_words(data['amount'])}. {_now(account)}"


def _take_back(account: Account, data: dict[str, Any], request: Any) -> str:
    done = services.take_back(account=account, actor=request.user, ip=request.ip, **data)
    if not done:
        raise ActRefused(SENT_BEFORE)
    return f"Took back {in_words(data['amount'])}. {_now(account)}"


def _now(account: Account) -> str:
    wallet = Wallet.objects.get(account=account)
    debt = f" and the debt {wallet.debt:,}" if wallet.debt else ""
    return f"The balance is {wallet.balance:,}{debt}."


def _change_plan(account: Account, data: dict[str, Any], request: Any) -> str:
    plan, reason = data["plan"], data["reason"]
    try:
        plans.give_plan(
            account=account, plan=plan, reason=reason, actor=request.user, ip=request.ip
        )
    except plans.PlanRefused as refusal:
        raise ActRefused(str(refusal)) from refusal
    _tell_provider(account)
    return f"The plan is {plan}. No credits were granted."


def _suspend(account: Account, data: dict[str, Any], request: Any) -> str:
    accounts.suspend_account(account=account, actor=request.user, ip=request.ip)
    return "Suspended: its keys answer 403."


def _lift(account: Account, data: dict[str, Any], request: Any) -> str:
    accounts.lift_suspension(account=account, actor=request.user, ip=request.ip)
    return "No longer suspended."


def _mark_paid(order: Order, data: dict[str, Any], request: Any) -> str:
    if not orders.fulfil_order(order=order, actor=request.user, ip=request.ip):
        raise ActRefused(f"{order.number} was paid before: nothing was granted again.")
    return f"{order.number} is paid. {order.credits:,} credits are granted. {_now(order.account)}"


def _refund(order: Order, data: dict[str, Any], request: Any) -> str:
    reason = data["reason"]
    try:
        refunds.refuse_refund(order)
    except offers.OrderRefused as refusal:
        raise ActRefused(str(refusal)) from refusal
    # The provider may tell us of it before this request goes on: who asked for it stands first.
    audit.record(
        order.account, request.user, "order.refund_asked", f"{order}: {reason}", request.ip
    )
    try:
        method_of(order).give_back(order)
    except PaymentUnavailable as trouble:
        raise ActRefused(str(trouble)) from trouble
    refunds.refund_order(order=order, reason=reason, actor=request.user, ip=request.ip)
    _tell_provider(order.account)
    return f"{order.number} is refunded. {_now(order.account)}"


def _cancel(order: Order, data: dict[str, Any], request: Any) -> str:
    if not orders.cancel_order(order=order, actor=request.user, ip=request.ip):
        raise ActRefused(f"{order.number} does not wait for payment any more.")
    with suppress(PaymentUnavailable):
        method_of(order).withdraw(order)
    return f"{order.number} is cancelled."


def _tell_provider(account: Account) -> None:
    # What it could not be told now the day's work tells it.
    with suppress(PaymentUnavailable):
        catch_up(account)


ACTS_ON_ACCOUNTS = (
    StaffAct(
        "grant",
        "Grant",
        "credits.grant_credits",
        AmountForm,
        "The credits are there at once; a debt is paid first.",
        _grant,
    ),
    StaffAct(
        "take-back",
        "Take back",
        "credits.take_back_credits",
        AmountForm,
        "What is left of them goes at once. What was spent already becomes a debt, which the "
        "next credits pay first.",
        _take_back,
    ),
    StaffAct(
        "change-plan",
        "Change plan",
        "credits.change_subscription",
        PlanForm,
        "At once, for a month that begins today, without credits: grant those beside. It "
        "renews by an order as any other plan. What is left of a paid month ends.",
        _change_plan,
    ),
    StaffAct(
        "suspend",
        "Suspend",
        "accounts.suspend_account",
        ConfirmForm,
        "Its keys answer 403 from the next request on, until the suspension is lifted.",
        _suspend,
        lambda account: account.suspended_at is None and account.is_open,
    ),
    StaffAct(
        "lift",
        "Lift the suspension",
        "accounts.suspend_account",
        ConfirmForm,
        "Its keys work again from the next request on.",
        _lift,
        lambda account: account.suspended_at is not None,
    ),
)
ACTS_ON_ORDERS = (
    StaffAct(
        "mark-paid",
        "Mark paid",
        "credits.mark_paid_order",
        ConfirmForm,
        "The money is there: what was ordered is granted at once, and a receipt goes out.",
        _mark_paid,
        lambda order: order.state in (Order.State.PENDING, Order.State.CANCELLED),
    ),
    StaffAct(
        "refund",
        "Refund",
        "credits.refund_order",
        ReasonForm,
        "All that was paid is given back: by card at once, a transfer by you. The credits are "
        "taken; what was spent already becomes a debt. A plan ends.",
        _refund,
        lambda order: order.is_paid and order.total_cents > 0,
    ),
    StaffAct(
        "cancel",
        "Cancel",
        "credits.mark_paid_order",
        ConfirmForm,
        "Nothing is to be paid any more. A renewal is written anew unless the plan changes.",
        _cancel,
        lambda order: order.is_pending,
    ),
)
