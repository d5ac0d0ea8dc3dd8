"""What nobody would think of sending. `make test` tries each target here with a few examples that
are always the same, `make fuzz` with random ones for ten minutes."""
