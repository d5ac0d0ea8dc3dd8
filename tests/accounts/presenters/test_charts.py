"""The geometry of charts: scale, stacked bars, and which bars have a label."""

import re

import pytest

from accounts.presenters.charts import (
    HEIGHT,
    SLOT,
    choose_labeled,
    choose_peak,
    choose_ticks,
    draw_chart,
    format_ticks,
)

pytestmark = pytest.mark.anywhere

NO_CALLS = {"deliverable": 0, "risky": 0, "undeliverable": 0, "unknown": 0}
RECTANGLE = re.compile(r"M(\S+) (\S+?)v-(\S+?)h(\S+?)v")


@pytest.mark.parametrize(
    ("highest", "ticks"),
    [
        (0, ["0", "1"]),
        (1, ["0", "1"]),
        (7, ["0", "2", "4", "6", "8"]),
        (999, ["0", "200", "400", "600", "800", "1,000"]),
        (9_001, ["0", "2K", "4K", "6K", "8K", "10K"]),
        (1_100_000, ["0", "200K", "400K", "600K", "800K", "1M", "1.2M"]),
        (12_345_678, ["0", "5M", "10M", "15M"]),
        (10**12, ["0", "200B", "400B", "600B", "800B", "1T"]),
    ],
)
def test_ticks_are_round_numbers(highest: int, ticks: list[str]) -> None:
    assert format_ticks(choose_ticks(highest)) == ticks


def test_highest_bar_fills_three_quarters_of_the_chart() -> None:
    for highest in (*range(1, 2_000), *(10**power + 1 for power in range(3, 15))):
        ticks = choose_ticks(highest)
        assert 0.75 * ticks[-1] <= highest <= ticks[-1]
        assert len(ticks) <= 7


@pytest.mark.parametrize(
    ("count", "labeled"),
    [
        (0, []),
        (1, [0]),
        (7, [0, 1, 2, 3, 4, 5, 6]),
        (12, [1, 3, 5, 7, 9, 11]),
        (13, [0, 3, 6, 9, 12]),
        (30, [4, 9, 14, 19, 24, 29]),
        (90, [14, 29, 44, 59, 74, 89]),
    ],
)
def test_labels_are_evenly_spaced_and_end_with_the_last_bar(count: int, labeled: list[int]) -> None:
    assert choose_labeled(count) == labeled


def test_verdicts_are_stacked_in_slots_of_the_same_width() -> None:
    bars = [NO_CALLS] * 18 + [{**NO_CALLS, "deliverable": 5, "unknown": 5}, NO_CALLS]
    chart = draw_chart(bars, ["title"] * 20, ["/"] * 20, {18: "19 Nov"})
    assert chart.width == 20 * SLOT
    bottom, top = "M181 100v-50h8v50z", "M181 50v-50h8v50z"
    assert chart.layers == [("deliverable", bottom), ("unknown", top)]
    assert [bar.x for bar in chart.bars[:3]] == [0, 10, 20]
    assert [(label.x, label.text) for label in chart.labels] == [(92.5, "19 Nov")]


def test_few_bars_stay_slim() -> None:
    chart = draw_chart([{**NO_CALLS, "risky": 1}], [""], [""], {})
    assert (chart.cuts, chart.break_mark, chart.line) == ([], "", "")
    x, _, _, width = RECTANGLE.findall(chart.layers[0][1])[0]
    assert float(width) == pytest.approx(0.07 * chart.width)
    assert float(x) + float(width) / 2 == pytest.approx(SLOT / 2, abs=0.01)


def test_no_bar_leaves_the_chart() -> None:
    bars = [{**NO_CALLS, "deliverable": n, "risky": 2 * n, "unknown": 1} for n in range(200)]
    chart = draw_chart(bars, [""] * 200, [""] * 200, {})
    for _, path in chart.layers:
        for _, bottom, height, _ in RECTANGLE.findall(path):
            assert -0.01 <= float(bottom) - float(height) <= float(bottom) <= HEIGHT


@pytest.mark.parametrize(
    ("totals", "peak"),
    [
        ([], 0),
        ([9] * 6 + [40], 9),
        ([9] * 6 + [36], 36),
        ([9] * 5 + [40], 40),
        ([0] * 20 + [9, 40], 40),
        ([9] * 5 + [40, 40], 40),
    ],
)
def test_scale_leaves_out_one_bar_that_would_flatten_six_others(
    totals: list[float], peak: int
) -> None:
    assert choose_peak(totals) == peak


def test_cut_bar_fills_the_chart_and_shows_its_value() -> None:
    bars = [{**NO_CALLS, "risky": 8, "unknown": 2}] * 9 + [{**NO_CALLS, "risky": 30_000}]
    chart = draw_chart(bars, [""] * 10, [""] * 10, {})
    assert chart.ticks[0] == "10"
    assert dict(chart.layers)["risky"].endswith("v-100h7v100z")
    assert [(label.x, label.text) for label in chart.cuts] == [(95, "30,000")]
    assert chart.break_mark.startswith("M90 ")


def test_previous_period_is_a_line_on_the_same_scale() -> None:
    bars = [{**NO_CALLS, "risky": 5}] * 8
    chart = draw_chart(bars, [""] * 8, [""] * 8, {}, previous=[10] * 7 + [90])
    assert chart.ticks[0] == "10"
    assert chart.line == "M5 0L15 0L25 0L35 0L45 0L55 0L65 0L75 0"
    assert [label.text for label in chart.cuts] == ["90 previously"]


def test_empty_chart_has_no_layers() -> None:
    assert draw_chart([NO_CALLS], ["none"], [""], {}).layers == []
    assert draw_chart([], [], [], {}).ticks == ["1", "0"]
