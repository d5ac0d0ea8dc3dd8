from contextlib import suppress
from decimal import Decimal

from accounts import audit
from accounts.models import User
from credits.models import Order, OrderState
from credits.money import format_credits
from credits.orders import fulfillment, placement, refunds
from credits.payments import PaymentUnavailable, get_provider, try_sync
from credits.staff.action_admin import FormData, StaffAction
from credits.staff.forms import RefundForm
from credits.staff.previews import ActionPreview, Change, describe_balance, preview_deduction
from runtime.http.refusals import Refused


class MarkPaid(StaffAction[Order]):
    slug, label = "mark-paid", "Mark paid"
    permission = "credits.mark_paid_order"
    description = (
        "Confirms that the payment arrived. Grants the credits immediately, and emails a receipt."
    )

    def is_available(self, row: Order) -> bool:
        return row.state in (OrderState.PENDING, OrderState.CANCELLED)

    def run(self, row: Order, data: FormData, actor: User) -> str:
        if not fulfillment.fulfill_order(order=row, actor=actor):
            raise Refused(f"{row.number} is already paid. Nothing was granted again.")
        granted = f"Granted {format_credits(row.credits)}."
        return f"Marked {row.number} paid. {granted} {describe_balance(row.account)}"


class RefundOrder(StaffAction[Order]):
    slug, label = "refund", "Refund"
    permission = "credits.refund_order"
    description = (
        "Refunds the order, or a part of it. The same share of its credits is deducted, and spent "
        "ones become a debt. A plan ends once its order is refunded in full."
    )
    form, has_preview = RefundForm, True

    def is_available(self, row: Order) -> bool:
        return row.is_paid and row.total_cents > row.refunded_cents

    def initial(self, row: Order) -> FormData:
        remaining = Decimal(row.total_cents - row.refunded_cents) / 100
        return {"amount": remaining.quantize(Decimal("0.01")), "currency": row.currency}

    def run(self, row: Order, data: FormData, actor: User) -> str:
        reason, cents = data["reason"], int(data["amount"] * 100)
        refunds.require_refundable(row)
        money = row.money(cents)
        # Name the staff user now: the provider's event may record the refund first.
        target = f"{row}, {money}: {reason}"
        audit.record(row.account, actor, "order.refund_asked", target)
        if provider := get_provider(row):
            provider.refund(row, cents)
        refunds.refund_part(order=row, cents=cents, reason=reason, actor=actor)
        try_sync(row.account)
        return f"Refunded {row.number}: {money}. {describe_balance(row.account)}"

    def preview(self, row: Order, data: FormData, actor: User) -> ActionPreview:
        cents = int(data["amount"] * 100)
        after = row.refunded_cents + cents
        total = row.money(row.total_cents)
        refunded = Change(
            "Refunded",
            f"{row.money(row.refunded_cents)} of {total}",
            f"{row.money(after)} of {total}",
        )
        credits = refunds.share_of_credits(row, row.refunded_cents, after)
        deduction = preview_deduction(row.account, credits)
        money = row.money(cents)
        notes = [f"Return {money} yourself by bank transfer. This form only records it."]
        if row.was_paid_by_card:
            notes = [f"{money} go back to the customer's card."]
        notes.append(f"Credits deducted: {credits:,}.")
        if after == row.total_cents and row.plan is not None:
            notes.append(f"The order's month of {row.plan} is no longer paid for.")
        return ActionPreview((refunded, *deduction.changes), (*notes, *deduction.notes))


class CancelOrder(StaffAction[Order]):
    slug, label = "cancel", "Cancel order"
    permission = "credits.mark_paid_order"
    description = (
        "The customer no longer has to pay. A renewal is ordered again unless the plan changes."
    )

    def is_available(self, row: Order) -> bool:
        return row.is_pending

    def run(self, row: Order, data: FormData, actor: User) -> str:
        if not placement.cancel_order(order=row, actor=actor):
            raise Refused(f"{row.number} is no longer waiting for payment.")
        with suppress(PaymentUnavailable):
            if provider := get_provider(row):
                provider.withdraw(row)
        return f"Canceled {row.number}."


ORDER_ACTIONS: tuple[StaffAction[Order], ...] = (MarkPaid(), RefundOrder(), CancelOrder())
