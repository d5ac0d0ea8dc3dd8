"""Queue emails to an account's owners and billing members."""

from collections.abc import Collection, Mapping
from datetime import date

from django.utils.formats import date_format

from accounts.emails import link, queue_email
from accounts.models import Account
from accounts.names import format_for_email
from accounts.roles import Role
from apikeys.models import ApiKey
from credits.event_types import CREDITS_EXHAUSTED, CREDITS_LOW, USAGE_UNUSUAL
from credits.models import AutomaticOrder, Order, OrderKind, Plan, Wallet, list_refunds
from credits.money import format_percent
from runtime.mail.rendering import EmailRow

RECIPIENT_ROLES = (Role.OWNER, Role.BILLING)
ALERTED_ROLES = (Role.OWNER, Role.ADMIN, Role.DEVELOPER)
# Stripe's code if the bank asks the customer to confirm.
NEEDS_CUSTOMER = "authentication_required"
CREDITS_DEDUCTED = (
    "The refunded credits were deducted from your balance. If you already used some of them, new "
    "credits pay those off first."
)


def queue_invoice(*, order: Order) -> None:
    template = "renewal" if order.kind == OrderKind.RENEWAL else "invoice"
    context = _order_context(order, EmailRow("Due on", date_format(order.due_on)))
    _queue(template, order.account, context, _invoice_of(order))


def queue_receipt(*, order: Order) -> None:
    is_automatic = AutomaticOrder.objects.filter(order=order, outcome="").exists()
    template = "top_up_receipt" if is_automatic else "receipt"
    context = _order_context(order, _balance_row(order.account))
    _queue(template, order.account, context, _invoice_of(order))


def queue_refund(*, order: Order, cents: int, credits: int, plan: Plan | None) -> None:
    context = {
        **_order_context(order),
        "amount": order.money(cents),
        "return": "The money goes back to the card you paid with."
        if order.was_paid_by_card
        else "We'll return the money by bank transfer.",
        "deduction": CREDITS_DEDUCTED if credits else "",
        "rows": _refund_rows(order, cents, credits),
        "plan": plan,
    }
    _queue("refund", order.account, context)


def queue_payment_failed(
    *, account: Account, plan: Plan, ends_on: date, payment_url: str = ""
) -> None:
    """`payment_url` is the provider's page."""
    context = {"plan": plan, "ends_on": ends_on, "payment_url": payment_url}
    _queue("payment_failed", account, context)


def queue_order_payment_failed(*, order: Order) -> None:
    _queue("order_payment_failed", order.account, _order_context(order))


def queue_top_up_failed(*, order: Order, failure: str, is_off: bool) -> None:
    context = {**_order_context(order), "is_off": is_off}
    context["needs_customer"] = failure == NEEDS_CUSTOMER
    _queue("top_up_failed", order.account, context)


def queue_top_up_paused(*, account: Account, reason: str) -> None:
    _queue("top_up_paused", account, {"reason": reason})


def queue_top_up_off(*, order: Order, reason: str) -> None:
    _queue("top_up_off", order.account, {"reason": reason, "rows": _order_names(order)})


def queue_plan_ended(*, account: Account, plan: Plan) -> None:
    _queue("plan_ended", account, {"plan": plan, "link": link("credits:choose-plan")})


def queue_low_balance(*, account: Account, balance: int, threshold: int) -> None:
    held = _held(account)
    rows = [_credits_row("Balance", balance)]
    if held:
        rows.append(_credits_row("Held for lists", held))
    context = {
        "balance": balance,
        "held": held,
        "rows": [*rows, _credits_row("We email you at", threshold)],
        "threshold": threshold,
        "link": link("credits:choose-pack"),
        "event_type": CREDITS_LOW,
    }
    _queue("low_balance", account, context)


def queue_zero_balance(*, account: Account) -> None:
    context = {"held": _held(account), "link": link("credits:choose-pack")}
    _queue("zero_balance", account, {**context, "event_type": CREDITS_EXHAUSTED})


def queue_unusual_usage(*, account: Account, key: ApiKey | None, now: str, before: str) -> None:
    """Report credits, or refused requests of a key."""
    rows = [EmailRow("Today" if key is None else "Refused", now), EmailRow("Usual", before)]
    page = link("validation:show-usage")
    if key is not None:
        rows.insert(0, EmailRow("API key", f"{format_for_email(key.name)} ({key.display})"))
        page = f"{link('validation:show-requests')}?key={key.public_id}"
    context = {"key": key, "rows": rows, "link": page, "event_type": USAGE_UNUSUAL}
    _queue("unusual_usage", account, context, roles=ALERTED_ROLES)


def _order_rows(order: Order) -> list[EmailRow]:
    tax = []
    if order.tax_cents or order.tax_reason:
        rate = ", ".join(filter(None, [format_percent(order.tax_rate), order.tax_reason]))
        tax = [
            _money_row("Net", order.net_cents, order),
            _money_row(f"Tax ({rate})", order.tax_cents, order),
        ]
    total = order.money(order.total_cents)
    return [*_order_names(order), *tax, EmailRow("Total", total, "total")]


def _order_names(order: Order) -> list[EmailRow]:
    return [
        EmailRow("Invoice" if order.invoice_number else "Order", order.number),
        EmailRow("For", order.description),
        EmailRow("Account", format_for_email(order.account.name)),
    ]


def _refund_rows(order: Order, cents: int, credits: int) -> list[EmailRow]:
    rows = [*_order_names(order), _money_row("Paid", order.total_cents, order)]
    *earlier, _ = list_refunds(order)
    for at, earlier_cents in earlier:
        label = f"Refunded on {date_format(at)}" if at else "Earlier refunds"
        rows.append(_money_row(label, earlier_cents, order))
    rows.append(EmailRow("Refunded now", order.money(cents), "total"))
    if credits:
        rows.append(_credits_row("Credits deducted", credits))
    return [*rows, _balance_row(order.account)]


def _balance_row(account: Account) -> EmailRow:
    wallet = Wallet.objects.get(account=account)
    if wallet.debt:
        return _credits_row("Credits owed", wallet.debt)
    return _credits_row("New balance", wallet.balance)


def _money_row(label: str, cents: int, order: Order) -> EmailRow:
    return EmailRow(label, order.money(cents), "amount")


def _credits_row(label: str, number: int) -> EmailRow:
    return EmailRow(label, f"{number:,}", "amount")


def _held(account: Account) -> int:
    return Wallet.objects.values_list("held", flat=True).get(account=account)


def _invoice_of(order: Order) -> str:
    """Renewals by card have no PDF until paid."""
    return order.public_id if order.invoice_number else ""


def _order_context(order: Order, *more_rows: EmailRow) -> dict[str, object]:
    return {
        "order": order,
        "rows": [*_order_rows(order), *more_rows],
        "amount": order.money(order.total_cents),
        "link": link("credits:show-order", order_id=order.public_id),
    }


def _queue(
    template: str,
    account: Account,
    context: Mapping[str, object],
    attachment: str = "",
    roles: Collection[Role] = RECIPIENT_ROLES,
) -> None:
    context = {"account": account, "billing_link": link("credits:show-billing"), **context}
    members = account.memberships.filter(role__in=roles).select_related("user").order_by("pk")
    for member in members:
        queue_email(member.user.email, f"credits/mails/{template}", context, attachment=attachment)
