"""Parse an address, and say what's wrong with it."""
