from credits.models import Order


class Invoice:
    """Payment by bank transfer, which staff record."""

    def begin(self, order: Order) -> None:
        """Do nothing: the invoice has the payment details."""

    def withdraw(self, order: Order) -> None:
        """Do nothing: the invoice shows that it is canceled."""

    def refund(self, order: Order, cents: int) -> None:
        """Do nothing: staff transfer the money."""
