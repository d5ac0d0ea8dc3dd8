"""Automatic top-up: buy a pack with the saved card when the balance falls below a threshold.

rules.py says whether an order may be placed, orders.py places it and records how its payment ended,
services.py switches automatic top-up on and off. credits/payments/automatic_orders.py pays.
"""
