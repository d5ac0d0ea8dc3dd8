"""Stacked bar charts as SVG paths, one path per verdict. Pure.

A bar with its gap is 10 units wide, and the chart is 100 units high. The page stretches the SVG to
its own width, so all text stays outside the SVG.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

BAR, GAP, HEIGHT = 10, 2, 100
# From bottom to top.
STACK_ORDER = ("deliverable", "risky", "undeliverable", "unknown")


@dataclass(frozen=True)
class Chart:
    width: int
    # The value at the top of the chart.
    ceiling: int
    # Pairs of verdict and path.
    layers: list[tuple[str, str]]
    # Pairs of x position and tooltip.
    bars: list[tuple[int, str]]

    @property
    def half(self) -> int | None:
        return self.ceiling // 2 if self.ceiling % 2 == 0 else None


def draw_chart(counts: Sequence[Mapping[str, int]], titles: Sequence[str]) -> Chart:
    ceiling = round_up(max((sum(bar.values()) for bar in counts), default=0))
    paths: dict[str, list[str]] = {verdict: [] for verdict in STACK_ORDER}
    for number, bar in enumerate(counts):
        base = 0
        for verdict in STACK_ORDER:
            if bar[verdict]:
                paths[verdict].append(_rectangle(number, base, bar[verdict], ceiling))
                base += bar[verdict]
    layers = [(verdict, "".join(parts)) for verdict, parts in paths.items() if parts]
    bars = [(number * BAR, title) for number, title in enumerate(titles)]
    return Chart(len(counts) * BAR, ceiling, layers, bars)


def round_up(value: int) -> int:
    """Round up to 1, 2 or 5 times a power of ten, so that the scale is easy to read."""
    power: int = 10 ** (len(str(value)) - 1)
    return next(step * power for step in (1, 2, 5, 10) if step * power >= max(1, value))


def _rectangle(number: int, base: int, count: int, ceiling: int) -> str:
    bottom = HEIGHT - base * HEIGHT / ceiling
    height = count * HEIGHT / ceiling
    return f"M{number * BAR + GAP / 2:g} {bottom:.5g}v-{height:.4g}h{BAR - GAP}v{height:.4g}z"
