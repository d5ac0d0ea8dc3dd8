"""Latency percentiles of a histogram."""

import pytest

from validation.reports.usage_stats import format_percentile

pytestmark = pytest.mark.anywhere


@pytest.mark.parametrize(
    ("histogram", "share", "text"),
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
def test_percentiles_are_formatted(histogram: tuple[int, ...], share: float, text: str) -> None:
    assert format_percentile(histogram, share) == text
