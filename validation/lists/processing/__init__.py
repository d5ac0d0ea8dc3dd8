"""Work on started lists: look up domains, check rows, and finish."""
