"""Stacked bars as paths of an SVG, one for each verdict. Pure.

A bar is ten units wide with its gap, the chart a hundred high; the page stretches it to its width,
and writes all text beside it, which must not be stretched.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

BAR, GAP, HEIGHT = 10, 2, 100
# From the ground up.
LAYERS = ("deliverable", "risky", "undeliverable", "unknown")


@dataclass(frozen=True)
class Chart:
    width: int
    # What the top of the chart stands for.
    ceiling: int
    # Verdict and path.
    layers: list[tuple[str, str]]
    # Where each bar begins, and what is said of it when pointed at.
    bars: list[tuple[int, str]]

    @property
    def half(self) -> int | None:
        return self.ceiling // 2 if self.ceiling % 2 == 0 else None


def draw(counts: Sequence[Mapping[str, int]], titles: Sequence[str]) -> Chart:
    ceiling = round_up(max((sum(bar.values()) for bar in counts), default=0))
    paths: dict[str, list[str]] = {verdict: [] for verdict in LAYERS}
    for number, bar in enumerate(counts):
        ground = 0
        for verdict in LAYERS:
            if bar[verdict]:
                paths[verdict].append(_rectangle(number, ground, bar[verdict], ceiling))
                ground += bar[verdict]
    layers = [(verdict, "".join(parts)) for verdict, parts in paths.items() if parts]
    bars = [(number * BAR, title) for number, title in enumerate(titles)]
    return Chart(len(counts) * BAR, ceiling, layers, bars)


def round_up(most: int) -> int:
    """To 1, 2 or 5 and noughts, so that the scale can be read."""
    power: int = 10 ** (len(str(most)) - 1)
    return next(step * power for step in (1, 2, 5, 10) if step * power >= max(1, most))


def _rectangle(number: int, ground: int, height: int, ceiling: int) -> str:
    bottom = HEIGHT - ground * HEIGHT / ceiling
    tall = height * HEIGHT / ceiling
    return f"M{number * BAR + GAP / 2:g} {bottom:.5g}v-{tall:.4g}h{BAR - GAP}v{tall:.4g}z"
