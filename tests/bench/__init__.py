"""Benchmarks. Run them with `python -m tests.bench`. Results: docs/performance.md."""
