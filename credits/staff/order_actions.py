"""Staff actions on orders.

Each action calls one service, and returns a message that says what happened.
"""

from contextlib import suppress
from decimal import Decimal

from accounts import audit
from accounts.staff.request import StaffRequest
from credits.forms import ConfirmForm, RefundForm
from credits.models import Order
from credits.money import format_credits, format_money
from credits.orders import fulfillment, placement, refunds
from credits.payments import PaymentUnavailable, get_payment_method, try_sync
from credits.plans import offers
from credits.staff import previews
from credits.staff.action_admin import FormData, StaffAction, StaffActionRefused


def _mark_paid(order: Order, data: FormData, request: StaffRequest) -> str:
    if not fulfillment.fulfill_order(order=order, actor=request.user, ip=request.ip):
        raise StaffActionRefused(f"{order.number} is already paid. Nothing was granted again.")
    balance = previews.describe_balance(order.account)
    return f"Marked {order.number} paid. Granted {format_credits(order.credits)}. {balance}"


def _refund(order: Order, data: FormData, request: StaffRequest) -> str:
    reason, cents = data["reason"], _to_cents(data["amount"])
    try:
        refunds.require_refundable(order)
    except offers.OrderRefused as error:
        raise StaffActionRefused(str(error)) from error
    money = format_money(cents, order.currency)
    # The provider's event may arrive before this request continues. Records the staff user first.
    target = f"{order}, {money}: {reason}"
    audit.record(order.account, request.user, "order.refund_asked", target, request.ip)
    try:
        get_payment_method(order).refund(order, cents)
        refunds.refund_part(
            order=order, cents=cents, reason=reason, actor=request.user, ip=request.ip
        )
    except (PaymentUnavailable, offers.OrderRefused) as error:
        raise StaffActionRefused(str(error)) from error
    try_sync(order.account)
    return f"Refunded {order.number}: {money}. {previews.describe_balance(order.account)}"


def _offer_refund(order: Order) -> dict[str, object]:
    remaining = Decimal(order.total_cents - order.refunded_cents) / 100
    return {"amount": remaining.quantize(Decimal("0.01")), "currency": order.currency}


def _to_cents(amount: Decimal) -> int:
    return int(amount * 100)


def _cancel(order: Order, data: FormData, request: StaffRequest) -> str:
    if not placement.cancel_order(order=order, actor=request.user, ip=request.ip):
        raise StaffActionRefused(f"{order.number} is no longer waiting for payment.")
    with suppress(PaymentUnavailable):
        get_payment_method(order).withdraw(order)
    return f"Canceled {order.number}."


ORDER_ACTIONS: tuple[StaffAction[Order], ...] = (
    StaffAction(
        "mark-paid",
        "Mark paid",
        "credits.mark_paid_order",
        ConfirmForm,
        "Confirms that the payment arrived. Grants the credits immediately, and emails a receipt.",
        _mark_paid,
        lambda order: order.state in (Order.State.PENDING, Order.State.CANCELLED),
        preview=lambda order, *_: previews.preview_payment(order),
    ),
    StaffAction(
        "refund",
        "Refund",
        "credits.refund_order",
        RefundForm,
        "Refunds the order, or a part of it. The same share of its credits is deducted, and spent "
        "ones become a debt. A plan ends once its order is refunded in full.",
        _refund,
        lambda order: order.is_paid and order.total_cents > order.refunded_cents,
        preview=lambda order, data, _: previews.preview_refund(order, _to_cents(data["amount"])),
        initial=_offer_refund,
        is_confirmed=True,
    ),
    StaffAction(
        "cancel",
        "Cancel order",
        "credits.mark_paid_order",
        ConfirmForm,
        "The customer no longer has to pay. A renewal is ordered again unless the plan changes.",
        _cancel,
        lambda order: order.is_pending,
        preview=lambda order, *_: previews.preview_cancellation(order),
    ),
)
