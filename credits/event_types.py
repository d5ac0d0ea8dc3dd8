from accounts.events import record_event
from accounts.events.types import EventType, integer, text, time
from credits.models import EntryKind, LedgerEntry, Order, OrderKind

_BALANCE = {
    "balance": integer("Credits left", 498),
    "threshold": integer("Balance at which `credits.low` is recorded", 500),
}
_GRANTS = [kind.value for kind in EntryKind if kind not in LedgerEntry.OUTGOING]
_ORDER = {
    "id": text("ID of the order (`ord_…`)", "ord_6Vw2KmZqS8nTyFb4RxHc"),
    "kind": text("What was ordered", "pack", values=OrderKind.values),
    "cents": integer("Amount paid or refunded, including tax", 500),
    "currency": text("Currency of the amount", "USD"),
    "credits": integer("Credits that the order adds, or that were deducted for the refund", 1_000),
}

CREDITS_LOW = EventType(
    "credits.low",
    "Credits low",
    "The balance fell to the threshold of low-balance emails.",
    _BALANCE,
    is_emailed=True,
)
CREDITS_EXHAUSTED = EventType(
    "credits.exhausted",
    "Credits used up",
    "The balance fell to 0. Requests that cost credits are refused with 402.",
    {**_BALANCE, "balance": integer("Always 0", 0)},
    is_emailed=True,
)
CREDITS_GRANTED = EventType(
    "credits.granted",
    "Credits added",
    "Credits were added by signing up, by a plan or an order, or by our staff.",
    {
        "credits": integer("Credits added", 1_000),
        "kind": text("Where they come from", "purchase", values=_GRANTS),
        "balance": integer("Balance after that", 1_498),
    },
)
ORDER_PAID = EventType("order.paid", "Order paid", "The payment of an order arrived.", _ORDER)
ORDER_REFUNDED = EventType(
    "order.refunded", "Order refunded", "All or part of an order was refunded.", _ORDER
)
PLAN_CHANGED = EventType(
    "plan.changed",
    "Plan changed",
    "The account has another plan from now on.",
    {"from": text("Code of the old plan", "free"), "to": text("Code of the new plan", "starter")},
)

USAGE_UNUSUAL = EventType(
    "usage.unusual",
    "Unusual usage",
    "Requests used many more credits than usual (`spend`), or many more requests of an API key "
    "were refused than usual (`errors`). Recorded once per day (UTC) at most.",
    {
        "kind": text("What is unusual", "spend", values=["spend", "errors"]),
        "key": text("ID of the API key, for `errors`", None, is_nullable=True),
        "value": integer("Credits used since `since`, or percent of requests refused", 12_400),
        "usual": integer("Credits on the highest of the last 14 days, or usual percent", 900),
        "since": time("When the period began", "2026-11-25T00:00:00.000Z"),
    },
    is_emailed=True,
)


def record_order(event_type: EventType, order: Order, *, cents: int, credits: int) -> None:
    ids = {"id": order.public_id, "kind": order.kind, "currency": order.currency}
    record_event(order.account, event_type, {**ids, "cents": cents, "credits": credits})
