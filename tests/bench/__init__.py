"""Measurements, as `python -m tests.bench`. What they found: docs/performance.md."""
