from credits.models import Order


class Invoice:
    """Needs no provider: the order is the invoice, and staff mark it paid when the money is there.
    It is written and mailed with the order, in its transaction."""

    def begin(self, order: Order) -> None:
        """All that is needed to pay stands on the invoice."""

    def withdraw(self, order: Order) -> None:
        """The invoice says that it is cancelled."""

    def refund(self, order: Order) -> None:
        """Staff send it by hand, as it came."""
