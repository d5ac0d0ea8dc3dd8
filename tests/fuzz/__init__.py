"""Fuzz tests.

`make test` runs each target with a few fixed examples, `make fuzz` with random ones for ten
minutes.
"""
