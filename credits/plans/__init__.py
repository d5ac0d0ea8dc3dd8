"""Which plan an account has, what it offers, and the free credits of a new account."""
