from credits.models import Order, Subscription


class Invoice:
    """Needs no provider: the order is the invoice, and staff mark it paid when the money is there.
    Written and mailed with the order, in its transaction."""

    def begin(self, order: Order) -> None:
        """All that is needed to pay stands on the invoice."""

    def give_back(self, order: Order) -> None:
        """Staff send it by hand, as it came."""

    def follow_plan(self, subscription: Subscription) -> None:
        """Each renewal is an invoice of its own."""
