"""How long calls took, from a histogram of six fixed buckets. Pure."""

from collections.abc import Sequence

# A bucket holds the calls that took at most so many milliseconds; the last has no bound.
BOUNDS = (20, 50, 100, 250, 1000)
BUCKETS = (*(f"up_to_{bound}_ms" for bound in BOUNDS), "slower")


def bucket_of(duration_ms: int) -> str:
    for bound, bucket in zip(BOUNDS, BUCKETS, strict=False):
        if duration_ms <= bound:
            return bucket
    return BUCKETS[-1]


def percentile(histogram: Sequence[int], share: float) -> float | None:
    """So many milliseconds this share of the calls took at most; infinite in the last bucket.

    Within a bucket the calls are taken to be spread evenly.
    """
    left = share * sum(histogram)
    lower = 0
    for bound, calls in zip(BOUNDS, histogram, strict=False):
        if calls and calls >= left:
            return lower + (bound - lower) * left / calls
        left -= calls
        lower = bound
    return float("inf") if any(histogram) else None


def format_milliseconds(milliseconds: float | None) -> str:
    if milliseconds is None:
        return "no calls"
    if milliseconds > BOUNDS[-1]:
        return f"over {BOUNDS[-1]:,} ms"
    return f"{max(1, round(milliseconds)):,} ms"
