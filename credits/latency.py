"""Latency percentiles from a histogram of six fixed buckets. Pure."""

from collections.abc import Sequence

# Upper bounds in milliseconds, inclusive. The last bucket has none.
BUCKET_BOUNDS = (20, 50, 100, 250, 1000)
BUCKETS = (*(f"up_to_{bound}_ms" for bound in BUCKET_BOUNDS), "slower")


def bucket_for(duration_ms: int) -> str:
    for bound, bucket in zip(BUCKET_BOUNDS, BUCKETS, strict=False):
        if duration_ms <= bound:
            return bucket
    return BUCKETS[-1]


def percentile(histogram: Sequence[int], share: float) -> float | None:
    """Estimate the duration in milliseconds that this share of the calls did not exceed.

    Assumes that calls are spread evenly within a bucket. Returns infinity if the percentile is in
    the last bucket, and None if there were no calls.
    """
    remaining = share * sum(histogram)
    lower = 0
    for bound, calls in zip(BUCKET_BOUNDS, histogram, strict=False):
        if calls and calls >= remaining:
            return lower + (bound - lower) * remaining / calls
        remaining -= calls
        lower = bound
    return float("inf") if any(histogram) else None


def format_milliseconds(milliseconds: float | None) -> str:
    if milliseconds is None:
        return "no calls"
    if milliseconds > BUCKET_BOUNDS[-1]:
        return f"over {BUCKET_BOUNDS[-1]:,} ms"
    return f"{max(1, round(milliseconds)):,} ms"
