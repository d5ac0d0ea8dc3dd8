"""Compute stacked bar charts. A slot is a bar with the space around it. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil

SLOT, GAP, HEIGHT = 10, 2, 100
MAX_BAR = 0.07
MAX_STEPS = 6
MAX_LABELS = 6
STACK_ORDER = ("deliverable", "risky", "undeliverable", "unknown")
MIN_ABBREVIATED = 10_000
UNITS = ((10**12, "T"), (10**9, "B"), (10**6, "M"), (10**3, "K"))


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


def draw_chart(
    counts: Sequence[Mapping[str, int]],
    titles: Sequence[str],
    urls: Sequence[str],
    labels: Mapping[int, str],
    order: Sequence[str] = STACK_ORDER,
) -> Chart:
    ticks = choose_ticks(max((sum(bar.values()) for bar in counts), default=0))
    width = len(counts) * SLOT
    return Chart(
        width=width,
        ticks=format_ticks(ticks)[::-1],
        lines="".join(f"M0 {HEIGHT - tick * HEIGHT / ticks[-1]:.5g}h{width}" for tick in ticks),
        layers=_stack(counts, ticks[-1], order),
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


def _stack(
    counts: Sequence[Mapping[str, int]], ceiling: int, order: Sequence[str]
) -> list[tuple[str, str]]:
    paths: dict[str, list[str]] = {verdict: [] for verdict in order}
    bar_width = min(SLOT - GAP, len(counts) * SLOT * MAX_BAR)
    for number, bar in enumerate(counts):
        x = number * SLOT + (SLOT - bar_width) / 2
        base = 0
        for verdict in order:
            if bar[verdict]:
                bottom = HEIGHT - base * HEIGHT / ceiling
                height = bar[verdict] * HEIGHT / ceiling
                shape = f"M{x:g} {bottom:.5g}v-{height:.4g}h{bar_width:.3g}v{height:.4g}z"
                paths[verdict].append(shape)
                base += bar[verdict]
    return [(verdict, "".join(parts)) for verdict, parts in paths.items() if parts]
