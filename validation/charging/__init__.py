"""Charge for validations and record them, and refund charges whose response was lost."""
