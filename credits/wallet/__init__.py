"""Charge credits, total usage, and check that ledger and usage match the balances."""
