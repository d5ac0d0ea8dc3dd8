from collections import defaultdict

from django.db.models import F

from accounts.models import Account
from credits.models import AutomaticTopUp, Refund, SavedCard, UseDay, UseHour
from credits.models.usage import COUNTS

_ORDER_FIELDS = (
    *("public_id", "kind", "state", "method", "description", "credits", "currency", "net_cents"),
    *("tax_cents", "tax_reason", "refunded_cents", "invoice_number", "buyer_name"),
    *("buyer_address", "buyer_tax_id", "buyer_country", "placed_by", "placed_at", "paid_at"),
    *("cancelled_at", "refunded_at"),
)
_TOP_UP_FIELDS = ("is_on", "threshold", "cap_cents", "currency")
_USAGE_FIELDS = ("key__public_id", "verdict", *COUNTS)


def export_billing(*, account: Account) -> dict[str, object]:
    wallet, subscription = account.wallet, account.subscription
    card = SavedCard.objects.filter(account=account).first()
    top_ups = AutomaticTopUp.objects.filter(account=account)
    entries = account.ledger.order_by("at", "pk")
    hours, days = (model.objects.filter(account=account) for model in (UseHour, UseDay))
    return {
        "credits": {"balance": wallet.balance, "held": wallet.held, "debt": wallet.debt},
        "plan": {
            "code": subscription.plan.code,
            "next": subscription.next_plan.code,
            "covered_until": subscription.covered_until,
        },
        "saved_card": card
        and {"brand": card.brand, "last_four": card.last_four, "expires": card.expires},
        "automatic_top_up": top_ups.values(
            *_TOP_UP_FIELDS, pack_credits=F("pack__credits")
        ).first(),
        "ledger": list(entries.values("at", "kind", "amount", "reason")),
        "orders": _export_orders(account),
        "use_by_hour": list(hours.order_by("hour").values("hour", *_USAGE_FIELDS)),
        "use_by_day": list(days.order_by("day").values("day", *_USAGE_FIELDS)),
    }


def _export_orders(account: Account) -> list[dict[str, object]]:
    refunds = defaultdict(list)
    rows = Refund.objects.filter(order__account=account)
    for public_id, at, cents in rows.values_list("order__public_id", "at", "cents"):
        refunds[public_id].append({"at": at, "cents": cents})
    orders = account.orders.order_by("placed_at", "pk").values(*_ORDER_FIELDS)
    return [{**order, "refunds": refunds[order["public_id"]]} for order in orders]
