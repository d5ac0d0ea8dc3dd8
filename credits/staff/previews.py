"""Say what a staff action will change, before the form is sent."""

from dataclasses import dataclass
from hashlib import sha256

from accounts.models import Account
from credits.models import Hold, Order, Plan, Wallet
from credits.money import format_credits, format_money
from credits.orders.refunds import share_of_credits


@dataclass(frozen=True)
class Change:
    label: str
    before: str
    after: str


@dataclass(frozen=True)
class Preview:
    changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """Identify what the page showed, so that the action does what was confirmed."""
        return sha256(repr(self).encode()).hexdigest()


def describe_balance(account: Account) -> str:
    """Say what the wallet has now, after an action."""
    wallet = Wallet.objects.get(account=account)
    held = f", {wallet.held:,} are held" if wallet.held else ""
    debt = f", the debt {wallet.debt:,}" if wallet.debt else ""
    return f"The balance is {wallet.balance:,}{held}{debt}."


def preview_addition(account: Account, amount: int, *notes: str) -> Preview:
    wallet = Wallet.objects.get(account=account)
    paid_off = min(wallet.debt, amount)
    balance = wallet.balance + amount - paid_off
    return Preview(_wallet_changes(wallet, balance, wallet.held, wallet.debt - paid_off), notes)


def preview_deduction(account: Account, amount: int) -> Preview:
    wallet = Wallet.objects.get(account=account)
    freed = _freed_by_holds(wallet, amount - wallet.balance)
    available = wallet.balance + freed
    debt = max(0, amount - available)
    balance = max(0, available - amount)
    changes = _wallet_changes(wallet, balance, wallet.held - freed, wallet.debt + debt)
    notes = []
    if freed:
        notes.append(f"Lists in progress stop: {freed:,} held credits are released.")
    if debt:
        notes.append(f"{debt:,} of {format_credits(amount)} are spent and become a debt.")
    return Preview(changes, tuple(notes))


def preview_refund(order: Order, cents: int) -> Preview:
    """Preview a refund of these cents, in addition to what was refunded before."""
    after = order.refunded_cents + cents
    total = format_money(order.total_cents, order.currency)
    refunded = Change(
        "Refunded",
        f"{format_money(order.refunded_cents, order.currency)} of {total}",
        f"{format_money(after, order.currency)} of {total}",
    )
    credits = share_of_credits(order, order.refunded_cents, after)
    deduction = preview_deduction(order.account, credits)
    money = format_money(cents, order.currency)
    notes = [_describe_money(order, money), f"Credits deducted: {credits:,}."]
    if after == order.total_cents and order.plan is not None:
        notes.append(f"The order's month of {order.plan} is no longer paid for.")
    return Preview((refunded, *deduction.changes), (*notes, *deduction.notes))


def preview_payment(order: Order) -> Preview:
    credits = order.credits - share_of_credits(order, 0, order.refunded_cents)
    addition = preview_addition(order.account, credits)
    state = Change("Order", order.get_state_display(), "Paid")
    return Preview((state, *addition.changes), (f"Credits granted: {credits:,}.",))


def preview_cancellation(order: Order) -> Preview:
    return Preview((Change("Order", order.get_state_display(), "Canceled"),))


def preview_plan(account: Account, plan: Plan) -> Preview:
    change = Change("Plan", str(account.subscription.plan), str(plan))
    return Preview((change,), ("A month of the plan starts today. No credits are granted.",))


def _describe_money(order: Order, money: str) -> str:
    if order.was_paid_by_card:
        return f"{money} go back to the customer's card."
    return f"Return {money} yourself by bank transfer. This form only records it."


def _wallet_changes(wallet: Wallet, balance: int, held: int, debt: int) -> tuple[Change, ...]:
    numbers = [
        ("Balance", wallet.balance, balance),
        ("Held", wallet.held, held),
        ("Debt", wallet.debt, debt),
    ]
    return tuple(
        Change(label, f"{before:,}", f"{after:,}")
        for label, before, after in numbers
        if label == "Balance" or before != after
    )


def _freed_by_holds(wallet: Wallet, needed: int) -> int:
    """Return what `Hold.objects.cancel_newest` would free: whole holds, the newest first."""
    freed = 0
    holds = Hold.objects.open().filter(account=wallet.account_id, remaining__gt=0)
    for remaining in holds.order_by("-pk").values_list("remaining", flat=True):
        if freed >= needed:
            break
        freed += remaining
    return freed
