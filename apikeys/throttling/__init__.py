"""Rate limits: the buckets that callers consume, and the count of refusals."""
