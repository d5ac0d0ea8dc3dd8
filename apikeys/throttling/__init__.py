"""Rate limits, and the counts of refused requests."""
