"""Quote, place, fulfill, cancel, refund, and renew orders."""
