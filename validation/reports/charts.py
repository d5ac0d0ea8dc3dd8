"""Geometry of stacked bar charts. Pure.

A slot (a bar with the space around it) is 10 units wide, and the chart is 100 units high. The page
stretches the bars to its own width, so text isn't stretched with them: its position is a percentage
of the width.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil

SLOT, GAP, HEIGHT = 10, 2, 100
# The widest bar, as a share of the chart.
MAX_BAR = 0.07
# With this many steps of 1, 2 or 5 times a power of ten, the highest bar fills 75% of the chart.
MAX_STEPS = 6
MAX_LABELS = 6
# From bottom to top.
STACK_ORDER = ("deliverable", "risky", "undeliverable", "unknown")
# A scale that ends here or above is abbreviated: 5K, 10K.
MIN_ABBREVIATED = 10_000
UNITS = ((10**12, "T"), (10**9, "B"), (10**6, "M"), (10**3, "K"))


@dataclass(frozen=True)
class Bar:
    x: int
    # The label and the counts of the interval, for hover and screen readers.
    title: str
    # Where a click leads, or empty.
    url: str = ""


@dataclass(frozen=True)
class AxisLabel:
    # In percent of the chart's width.
    x: float
    text: str


@dataclass(frozen=True)
class Chart:
    width: int
    # The numbers of the scale, from top to bottom.
    ticks: list[str]
    # The path of the horizontal lines at the ticks.
    lines: str
    # Pairs of verdict and path.
    layers: list[tuple[str, str]]
    bars: list[Bar]
    labels: list[AxisLabel]


def draw_chart(
    counts: Sequence[Mapping[str, int]],
    titles: Sequence[str],
    urls: Sequence[str],
    labels: Mapping[int, str],
) -> Chart:
    """Draw a bar per interval. `labels` are the texts below some of them, by their position."""
    ticks = choose_ticks(max((sum(bar.values()) for bar in counts), default=0))
    width = len(counts) * SLOT
    return Chart(
        width=width,
        ticks=format_ticks(ticks)[::-1],
        lines="".join(f"M0 {HEIGHT - tick * HEIGHT / ticks[-1]:.5g}h{width}" for tick in ticks),
        layers=_stack(counts, ticks[-1]),
        bars=[
            Bar(number * SLOT, title, url)
            for number, (title, url) in enumerate(zip(titles, urls, strict=True))
        ],
        labels=[
            AxisLabel(round(100 * (number + 0.5) / len(counts), 2), text)
            for number, text in labels.items()
        ],
    )


def choose_ticks(highest: int) -> list[int]:
    """Return round numbers from 0 up, the last one at least `highest`."""
    power = 10 ** max(0, len(str(highest)) - 2)
    steps = (factor * power for factor in (1, 2, 5, 10, 20, 50))
    step = next(step for step in steps if highest <= step * MAX_STEPS)
    return [step * number for number in range(max(1, ceil(highest / step)) + 1)]


def format_ticks(ticks: Sequence[int]) -> list[str]:
    if ticks[-1] < MIN_ABBREVIATED:
        return [f"{tick:,}" for tick in ticks]
    return [_abbreviate(tick) for tick in ticks]


def _abbreviate(tick: int) -> str:
    unit, letter = next((unit for unit in UNITS if tick >= unit[0]), (1, ""))
    return f"{tick / unit:g}{letter}"


def choose_labeled(count: int) -> list[int]:
    """Return the positions that get a label, evenly spaced and with the last one among them.

    Up to seven bars are all labeled; more get four to six labels.
    """
    step = 1 if count <= MAX_LABELS + 1 else ceil(count / MAX_LABELS)
    return [*range(count - 1, -1, -step)][::-1]


def _stack(counts: Sequence[Mapping[str, int]], ceiling: int) -> list[tuple[str, str]]:
    paths: dict[str, list[str]] = {verdict: [] for verdict in STACK_ORDER}
    bar_width = min(SLOT - GAP, len(counts) * SLOT * MAX_BAR)
    for number, bar in enumerate(counts):
        x = number * SLOT + (SLOT - bar_width) / 2
        base = 0
        for verdict in STACK_ORDER:
            if bar[verdict]:
                bottom = HEIGHT - base * HEIGHT / ceiling
                height = bar[verdict] * HEIGHT / ceiling
                shape = f"M{x:g} {bottom:.5g}v-{height:.4g}h{bar_width:.3g}v{height:.4g}z"
                paths[verdict].append(shape)
                base += bar[verdict]
    return [(verdict, "".join(parts)) for verdict, parts in paths.items() if parts]
