"""Decide which plan an account has, what it can order, and its free credits."""
