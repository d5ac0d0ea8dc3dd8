"""Credits, orders, and usage in the export of an account."""

from accounts.models import Account
from credits.models import UseDay, UseHour

_ORDER_FIELDS = (
    *("public_id", "kind", "state", "method", "description", "credits", "currency", "net_cents"),
    *("tax_cents", "refunded_cents", "invoice_number", "buyer_name", "buyer_address"),
    *("buyer_tax_id", "placed_by", "placed_at", "paid_at", "cancelled_at", "refunded_at"),
)
_USAGE_FIELDS = ("key__public_id", "verdict", "calls", "credits")


def export_billing(*, account: Account) -> dict[str, object]:
    """Return the billing data of an account for its export. A hook."""
    wallet, subscription = account.wallet, account.subscription
    entries = account.ledger.order_by("at", "pk")
    hours, days = (model.objects.filter(account=account) for model in (UseHour, UseDay))
    return {
        "credits": {"balance": wallet.balance, "held": wallet.held, "debt": wallet.debt},
        "plan": {
            "code": subscription.plan.code,
            "next": subscription.next_plan.code,
            "covered_until": subscription.covered_until,
        },
        "ledger": list(entries.values("at", "kind", "amount", "reason")),
        "orders": list(account.orders.order_by("placed_at").values(*_ORDER_FIELDS)),
        "use_by_hour": list(hours.order_by("hour").values("hour", *_USAGE_FIELDS)),
        "use_by_day": list(days.order_by("day").values("day", *_USAGE_FIELDS)),
    }
