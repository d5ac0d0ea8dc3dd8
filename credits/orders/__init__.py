"""Place, pay, cancel, refund, and renew orders."""
