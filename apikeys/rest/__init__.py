"""The REST conventions that every view under /v1 shares."""
