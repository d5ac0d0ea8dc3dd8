from collections.abc import Sequence

from credits.models.usage import BUCKET_BOUNDS


def format_percentile(histogram: Sequence[int], share: float) -> str:
    """Return a text such as `19 ms`. Assumes that calls are spread evenly within a bucket."""
    if not any(histogram):
        return "no calls"
    remaining, lower = share * sum(histogram), 0
    for bound, calls in zip(BUCKET_BOUNDS, histogram, strict=False):
        if calls and calls >= remaining:
            milliseconds = lower + (bound - lower) * remaining / calls
            return f"{max(1, round(milliseconds)):,} ms"
        remaining -= calls
        lower = bound
    return f"over {lower:,} ms"
