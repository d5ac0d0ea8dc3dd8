"""Compute stacked bar charts. A slot is a bar with the space around it. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil

SLOT, GAP, HEIGHT = 10, 2, 100
MAX_BAR = 0.07
MAX_STEPS = 6
MAX_LABELS = 6
MIN_ABBREVIATED = 10_000
UNITS = ((10**12, "T"), (10**9, "B"), (10**6, "M"), (10**3, "K"))
# One bar is cut if it's so many times as high as any other, of at least as many bars.
OUTLIER_FACTOR, MIN_BARS_TO_CUT = 4, 7


@dataclass(frozen=True)
class Bar:
    x: int
    title: str
    url: str = ""


@dataclass(frozen=True)
class AxisLabel:
    x: float
    text: str


@dataclass(frozen=True)
class Chart:
    width: int
    ticks: list[str]
    lines: str
    layers: list[tuple[str, str]]
    bars: list[Bar]
    labels: list[AxisLabel]
    # The period before.
    line: str
    # A mark across a bar that is higher than the scale.
    break_mark: str
    # Values above the scale.
    cuts: list[AxisLabel]


def draw_chart(
    counts: Sequence[Mapping[str, float]],
    titles: Sequence[str],
    urls: Sequence[str],
    labels: Mapping[int, str],
    *,
    previous: Sequence[float] = (),
    prefix: str = "",
) -> Chart:
    totals = [sum(bar.values()) for bar in counts]
    ticks = choose_ticks(ceil(max(choose_peak(totals), choose_peak(previous))))
    width = len(counts) * SLOT
    bar_width = min(SLOT - GAP, width * MAX_BAR)
    cut = [number for number, total in enumerate(totals) if total > ticks[-1]]
    values = {
        **{i: f"{value:,.0f} previously" for i, value in enumerate(previous) if value > ticks[-1]},
        **{i: f"{prefix}{totals[i]:,.0f}" for i in cut},
    }
    return Chart(
        width=width,
        ticks=[prefix + tick for tick in format_ticks(ticks)[::-1]],
        lines="".join(f"M0 {HEIGHT - tick * HEIGHT / ticks[-1]:.5g}h{width}" for tick in ticks),
        layers=_stack(counts, ticks[-1], bar_width),
        bars=[
            Bar(number * SLOT, title, url)
            for number, (title, url) in enumerate(zip(titles, urls, strict=True))
        ],
        labels=[_label(number, text, counts) for number, text in labels.items()],
        line=draw_line(previous, ticks[-1], SLOT / 2, SLOT),
        break_mark="".join(f"M{number * SLOT} 14l{SLOT} -6" for number in cut),
        cuts=[_label(number, text, counts) for number, text in values.items()],
    )


def draw_line(values: Sequence[float], ceiling: float, start: float, step: float) -> str:
    """Return a path with a point per value, along the top where it is higher."""
    heights = (HEIGHT * (1 - min(value, ceiling) / ceiling) for value in values)
    points = (f"{start + i * step:.4g} {height:.4g}" for i, height in enumerate(heights))
    return "M" + "L".join(points) if values else ""


def choose_peak(totals: Sequence[float]) -> float:
    """Return the highest total, or the next one if the highest would flatten all others."""
    second, first = sorted([0, 0, *totals])[-2:]
    is_outlier = sum(map(bool, totals)) >= MIN_BARS_TO_CUT and first > OUTLIER_FACTOR * second
    return second if is_outlier else first


def choose_ticks(highest: int) -> list[int]:
    power = 10 ** max(0, len(str(highest)) - 2)
    steps = (factor * power for factor in (1, 2, 5, 10, 20, 50))
    step = next(step for step in steps if highest <= step * MAX_STEPS)
    return [step * number for number in range(max(1, ceil(highest / step)) + 1)]


def format_ticks(ticks: Sequence[int]) -> list[str]:
    if ticks[-1] < MIN_ABBREVIATED:
        return [f"{tick:,}" for tick in ticks]
    units = [next((unit for unit in UNITS if tick >= unit[0]), (1, "")) for tick in ticks]
    return [f"{tick / unit:g}{letter}" for tick, (unit, letter) in zip(ticks, units, strict=True)]


def choose_labeled(count: int) -> list[int]:
    step = 1 if count <= MAX_LABELS + 1 else ceil(count / MAX_LABELS)
    return [*range(count - 1, -1, -step)][::-1]


def _label(number: int, text: str, counts: Sequence[Mapping[str, float]]) -> AxisLabel:
    return AxisLabel(round(100 * (number + 0.5) / len(counts), 2), text)


def _stack(
    counts: Sequence[Mapping[str, float]], ceiling: int, bar_width: float
) -> list[tuple[str, str]]:
    """Return a path per kind. A bar above the ceiling is as high as the chart."""
    paths: dict[str, list[str]] = {kind: [] for kind in next(iter(counts), ())}
    for number, bar in enumerate(counts):
        x = number * SLOT + (SLOT - bar_width) / 2
        scale = HEIGHT / max(ceiling, sum(bar.values()))
        bottom = float(HEIGHT)
        for kind, value in bar.items():
            if value:
                height = value * scale
                shape = f"M{x:g} {bottom:.5g}v-{height:.4g}h{bar_width:.3g}v{height:.4g}z"
                paths[kind].append(shape)
                bottom -= height
    return [(kind, "".join(parts)) for kind, parts in paths.items() if parts]
