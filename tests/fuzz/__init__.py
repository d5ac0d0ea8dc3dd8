"""Fuzz tests.

`make test` and `make proofs` run each target with a few fixed examples, `make fuzz` with random
ones until a time limit.
"""
