"""Turn the rounds of a measurement into a table: medians, spread and missed targets."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TypedDict, TypeVar, Unpack

Round = TypeVar("Round")


class Target(TypedDict, total=False):
    at_least: float
    at_most: float


@dataclass(frozen=True)
class Metric:
    """A number measured in one or several rounds, with an optional target."""

    label: str
    values: list[float]
    at_least: float | None = None
    at_most: float | None = None
    # The same metrics of several scenarios are compared in columns.
    scenario: str = ""

    @property
    def name(self) -> str:
        return f"{self.scenario}: {self.label}" if self.scenario else self.label

    @property
    def is_met(self) -> bool:
        value = median(self.values)
        is_enough = self.at_least is None or value >= self.at_least
        return is_enough and (self.at_most is None or value <= self.at_most)

    def cells(self) -> list[str]:
        measured = _spread(self.values) if len(self.values) > 1 else _number(self.values[0])
        target = ""
        if self.at_least is not None:
            target = f"at least {self.at_least:g}: "
        elif self.at_most is not None:
            target = f"at most {self.at_most:g}: "
        verdict = "met" if self.is_met else "missed"
        return [self.label, measured, f"{target}{verdict}" if target else ""]


def over_rounds(
    rounds: Iterable[Round], label: str, value: Callable[[Round], float], **target: Unpack[Target]
) -> Metric:
    return Metric(label, [value(measured) for measured in rounds], **target)


def tabulate(metrics: Sequence[Metric]) -> str:
    """Return a table of metrics that are compared in columns, and a table of all others."""
    compared = [metric for metric in metrics if metric.scenario]
    others = [metric.cells() for metric in metrics if not metric.scenario]
    tables = [_compare(compared)] if compared else []
    if others:
        tables.append(markdown([["", "measured", "target"], *others]))
    return "\n\n".join(tables)


def _compare(metrics: Sequence[Metric]) -> str:
    scenarios = list(dict.fromkeys(metric.scenario for metric in metrics))
    rows: dict[str, dict[str, str]] = {}
    for metric in metrics:
        label, *cell = metric.cells()
        rows.setdefault(label, {})[metric.scenario] = "; ".join(filter(None, cell))
    cells = [[label, *(row.get(name, "") for name in scenarios)] for label, row in rows.items()]
    return markdown([["", *scenarios], *cells])


def summarize_missed_metrics(metrics: Sequence[Metric]) -> str:
    missed = [metric.name for metric in metrics if not metric.is_met]
    return f"Missed: {'; '.join(missed)}." if missed else "Every target is met."


def markdown(cells: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table. The first row is its header."""
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    header, *rows = cells
    return "\n".join(_line(row, widths) for row in (header, ["-" * w for w in widths], *rows))


def write_between_markers(document: Path, name: str, text: str) -> None:
    """Replace the text between `<!-- name -->` and `<!-- end of name -->` in a document."""
    start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, _, rest = document.read_text().partition(start)
    _, separator, after = rest.partition(end)
    if not separator:
        raise ValueError(f"{document.name} contains no markers for {name}.")
    document.write_text(f"{before}{start}{text}\n{end}{after}")


def _spread(values: Sequence[float]) -> str:
    return f"{_number(median(values))} ({_number(min(values))} to {_number(max(values))})"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
    return f"| {' | '.join(padded)} |"
