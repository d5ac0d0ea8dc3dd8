"""Percentiles of a histogram."""

import pytest

from credits.latency import BOUNDS, BUCKETS, bucket_of, format_milliseconds, percentile

pytestmark = pytest.mark.anywhere


@pytest.mark.parametrize(
    ("histogram", "share", "words"),
    [
        ((0, 0, 0, 0, 0, 0), 0.5, "no calls"),
        ((100, 0, 0, 0, 0, 0), 0.5, "10 ms"),
        ((100, 0, 0, 0, 0, 0), 0.95, "19 ms"),
        ((50, 50, 0, 0, 0, 0), 0.5, "20 ms"),
        ((50, 50, 0, 0, 0, 0), 0.75, "35 ms"),
        ((0, 0, 0, 0, 10, 0), 1, "1,000 ms"),
        ((90, 0, 0, 0, 0, 10), 0.95, "over 1,000 ms"),
        ((0, 0, 0, 0, 0, 1), 0.5, "over 1,000 ms"),
        ((1000, 0, 0, 0, 0, 0), 0.001, "1 ms"),
    ],
)
def test_a_percentile_in_words(histogram: tuple[int, ...], share: float, words: str) -> None:
    assert format_milliseconds(percentile(histogram, share)) == words


def test_each_duration_has_its_bucket() -> None:
    assert [bucket_of(bound) for bound in BOUNDS] == list(BUCKETS[:-1])
    assert [bucket_of(bound + 1) for bound in BOUNDS] == list(BUCKETS[1:])
