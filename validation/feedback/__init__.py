"""Feedback: a customer says that a verdict is wrong, and staff answer."""
