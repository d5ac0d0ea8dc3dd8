"""What staff find of orders from the one box of the admin."""

import re

from accounts.staff.panels import MAX_ROWS, Findings, Hit, link_to, require_staff_permissions
from credits.models import Order

# As the invoice has it, or only its number.
_INVOICE = re.compile(r"(?:INV-?)?([0-9]{1,9})", re.IGNORECASE | re.ASCII)


@require_staff_permissions("credits.view_order", "accounts.view_account")
def find_orders(text: str) -> Findings:
    if text.startswith("ord_"):
        found = Order.objects.filter(public_id=text)
    elif invoice := _INVOICE.fullmatch(text):
        found = Order.objects.filter(invoice_number=int(invoice[1]))
    else:
        found = Order.objects.none()
    orders = found.select_related("account")[:MAX_ROWS]
    return Findings(
        "Orders",
        [
            Hit(
                link_to(order, order.number),
                f"{order.description}, {order.get_state_display().lower()}",
                [link_to(order.account)],
                is_exact=True,
            )
            for order in orders
        ],
    )
