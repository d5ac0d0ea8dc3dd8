import re

from accounts.staff.links import account_hit
from accounts.staff.panels import MAX_ROWS, SearchResults, require_staff_permissions
from credits.models import Hold, Order

ACCOUNT_SEARCH_FIELDS = ("account__name", "account__public_id", "account__memberships__user__email")
# An invoice number, with or without its prefix.
_INVOICE = re.compile(r"(?:INV-?)?([0-9]{1,9})", re.IGNORECASE | re.ASCII)


@require_staff_permissions("credits.view_order", "accounts.view_account")
def find_orders(text: str) -> SearchResults:
    if text.startswith("ord_"):
        orders = Order.objects.filter(public_id=text)
    elif invoice := _INVOICE.fullmatch(text):
        orders = Order.objects.filter(invoice_number=int(invoice[1]))
    else:
        orders = Order.objects.none()
    return SearchResults(
        "Orders",
        [
            account_hit(
                order, order.number, f"{order.description}, {order.get_state_display().lower()}"
            )
            for order in orders.select_related("account")[:MAX_ROWS]
        ],
    )


@require_staff_permissions("credits.view_hold", "accounts.view_account")
def find_holds(text: str) -> SearchResults:
    """A list may have several holds."""
    holds = Hold.objects.filter(source__startswith=text) if ":" in text else Hold.objects.none()
    return SearchResults(
        "Holds",
        [
            account_hit(
                hold,
                hold.source,
                f"{hold.reason}, {hold.remaining:,} of {hold.amount:,} credits left",
            )
            for hold in holds.select_related("account")[:MAX_ROWS]
        ],
    )
