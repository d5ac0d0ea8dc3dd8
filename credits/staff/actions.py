"""Staff actions on accounts, orders, and grants.

Each action calls one service, and returns a message that says what happened.
"""

from collections.abc import Callable
from contextlib import suppress

from django.conf import settings

from accounts import audit
from accounts import services as accounts
from accounts.models import Account
from accounts.staff.request import StaffRequest
from credits import services
from credits.forms import AmountForm, ConfirmForm, PlanForm, ReasonForm
from credits.models import Order, StaffGrant, Wallet
from credits.orders import fulfillment, placement, refunds
from credits.payments import PaymentUnavailable, get_payment_method, sync_with_provider
from credits.plans import changes, offers
from credits.staff import grants
from credits.staff.action_admin import FormData, StaffAction, StaffActionRefused
from credits.wallet.charges import format_count

ALREADY_SENT = "This form was already submitted. Nothing was done twice."


def _grant(account: Account, data: FormData, request: StaffRequest) -> str:
    grant = grants.request_grant(account=account, actor=request.user, ip=request.ip, **data)
    if grant is None:
        raise StaffActionRefused(ALREADY_SENT)
    if grant.is_pending:
        return (
            f"Requested {format_count(grant.amount)}. Ask a colleague to confirm the grant under "
            "Staff grants."
        )
    return f"Granted {format_count(grant.amount)}. {_describe_balance(account)}"


def _confirm(grant: StaffGrant, data: FormData, request: StaffRequest) -> str:
    _decide(grants.confirm_grant, grant, request)
    return f"Granted {format_count(grant.amount)}. {_describe_balance(grant.account)}"


def _reject(grant: StaffGrant, data: FormData, request: StaffRequest) -> str:
    _decide(grants.reject_grant, grant, request)
    return f"Rejected {grant}. Nothing was granted."


def _withdraw(grant: StaffGrant, data: FormData, request: StaffRequest) -> str:
    _decide(grants.withdraw_grant, grant, request)
    return f"Withdrew {grant}. Nothing was granted."


def _decide(decide: Callable[..., None], grant: StaffGrant, request: StaffRequest) -> None:
    try:
        decide(grant=grant, actor=request.user, ip=request.ip)
    except grants.GrantRefused as error:
        raise StaffActionRefused(str(error)) from error


def _deduct(account: Account, data: FormData, request: StaffRequest) -> str:
    if not services.deduct(account=account, actor=request.user, ip=request.ip, **data):
        raise StaffActionRefused(ALREADY_SENT)
    return f"Deducted {format_count(data['amount'])}. {_describe_balance(account)}"


def _describe_balance(account: Account) -> str:
    wallet = Wallet.objects.get(account=account)
    held = f", {wallet.held:,} are held" if wallet.held else ""
    debt = f", the debt {wallet.debt:,}" if wallet.debt else ""
    return f"The balance is {wallet.balance:,}{held}{debt}."


def _change_plan(account: Account, data: FormData, request: StaffRequest) -> str:
    plan, reason = data["plan"], data["reason"]
    try:
        changes.assign_plan(
            account=account, plan=plan, reason=reason, actor=request.user, ip=request.ip
        )
    except changes.PlanRefused as error:
        raise StaffActionRefused(str(error)) from error
    _try_sync(account)
    return f"The plan is now {plan}. No credits were granted."


def _suspend(account: Account, data: FormData, request: StaffRequest) -> str:
    accounts.suspend_account(account=account, actor=request.user, ip=request.ip)
    return "Suspended the account. Its API keys now return 403."


def _lift(account: Account, data: FormData, request: StaffRequest) -> str:
    accounts.lift_suspension(account=account, actor=request.user, ip=request.ip)
    return "Lifted the suspension. The account's API keys work again."


def _mark_paid(order: Order, data: FormData, request: StaffRequest) -> str:
    if not fulfillment.fulfill_order(order=order, actor=request.user, ip=request.ip):
        raise StaffActionRefused(f"{order.number} is already paid. Nothing was granted again.")
    balance = _describe_balance(order.account)
    return f"Marked {order.number} paid. Granted {format_count(order.credits)}. {balance}"


def _refund(order: Order, data: FormData, request: StaffRequest) -> str:
    reason = data["reason"]
    try:
        refunds.require_refundable(order)
    except offers.OrderRefused as error:
        raise StaffActionRefused(str(error)) from error
    # The provider's event may arrive before this request continues. Records the staff user first.
    audit.record(
        order.account, request.user, "order.refund_asked", f"{order}: {reason}", request.ip
    )
    try:
        get_payment_method(order).refund(order)
    except PaymentUnavailable as error:
        raise StaffActionRefused(str(error)) from error
    refunds.refund_order(order=order, reason=reason, actor=request.user, ip=request.ip)
    _try_sync(order.account)
    return f"Refunded {order.number}. {_describe_balance(order.account)}"


def _cancel(order: Order, data: FormData, request: StaffRequest) -> str:
    if not placement.cancel_order(order=order, actor=request.user, ip=request.ip):
        raise StaffActionRefused(f"{order.number} is no longer waiting for payment.")
    with suppress(PaymentUnavailable):
        get_payment_method(order).withdraw(order)
    return f"Canceled {order.number}."


def _is_pending(grant: StaffGrant) -> bool:
    return grant.is_pending


def _try_sync(account: Account) -> None:
    # The daily job syncs again if the provider is unavailable.
    with suppress(PaymentUnavailable):
        sync_with_provider(account)


ACCOUNT_ACTIONS: tuple[StaffAction[Account], ...] = (
    StaffAction(
        "grant",
        "Grant",
        "credits.grant_credits",
        AmountForm,
        "Adds the credits immediately, and pays off a debt first. If you grant more than "
        f"{settings.STAFF_GRANT_LIMIT:,} credits in 24 hours, across all accounts, a second person "
        "has to confirm.",
        _grant,
    ),
    StaffAction(
        "take-back",
        "Deduct",
        "credits.take_back_credits",
        AmountForm,
        "Deducts the credits immediately. What the balance doesn't cover cancels the holds of "
        "lists in progress, newest first. The rest becomes a debt, which new credits pay off "
        "first.",
        _deduct,
    ),
    StaffAction(
        "change-plan",
        "Change plan",
        "credits.change_subscription",
        PlanForm,
        "Starts a month of the plan today, and ends the current one. No credits are granted: use "
        "Grant for those. The plan renews with an order, like any other.",
        _change_plan,
    ),
    StaffAction(
        "suspend",
        "Suspend",
        "accounts.suspend_account",
        ConfirmForm,
        "Its API keys return 403 from the next request on, until you lift the suspension.",
        _suspend,
        lambda account: account.suspended_at is None and account.is_open,
    ),
    StaffAction(
        "lift",
        "Lift suspension",
        "accounts.suspend_account",
        ConfirmForm,
        "Its API keys work again from the next request on.",
        _lift,
        lambda account: account.suspended_at is not None,
    ),
)
ORDER_ACTIONS: tuple[StaffAction[Order], ...] = (
    StaffAction(
        "mark-paid",
        "Mark paid",
        "credits.mark_paid_order",
        ConfirmForm,
        "Confirms that the payment arrived. Grants the credits immediately, and emails a receipt.",
        _mark_paid,
        lambda order: order.state in (Order.State.PENDING, Order.State.CANCELLED),
    ),
    StaffAction(
        "refund",
        "Refund",
        "credits.refund_order",
        ReasonForm,
        "Refunds the whole order. Card payments are returned automatically; return a bank transfer "
        "yourself. The credits are deducted, and spent ones become a debt. A plan ends.",
        _refund,
        lambda order: order.is_paid and order.total_cents > 0,
    ),
    StaffAction(
        "cancel",
        "Cancel order",
        "credits.mark_paid_order",
        ConfirmForm,
        "The customer no longer has to pay. A renewal is ordered again unless the plan changes.",
        _cancel,
        lambda order: order.is_pending,
    ),
)
GRANT_ACTIONS: tuple[StaffAction[StaffGrant], ...] = (
    StaffAction(
        "confirm",
        "Confirm",
        "credits.grant_credits",
        ConfirmForm,
        "Adds the credits to the account immediately. Check the amount and the reason first.",
        _confirm,
        _is_pending,
        grants.refusal_to_confirm,
    ),
    StaffAction(
        "reject",
        "Reject",
        "credits.grant_credits",
        ConfirmForm,
        "Closes the request. Nothing is granted.",
        _reject,
        _is_pending,
        grants.refusal_to_reject,
    ),
    StaffAction(
        "withdraw",
        "Withdraw",
        "credits.grant_credits",
        ConfirmForm,
        "Closes the request. Nothing is granted.",
        _withdraw,
        _is_pending,
        grants.refusal_to_withdraw,
        shows_refusal=False,
    ),
)
