"""Turn the rounds of a measurement into a table: medians, spread and missed targets."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from tests.bench.load import Outcome

# The outcomes of one round, by contender and measurement.
Round = Mapping[str, Mapping[str, Outcome]]
# Computes a row's number for one contender in one round.
Value = Callable[[Round, str], float]


@dataclass(frozen=True)
class Row:
    """A row of the table that compares contenders."""

    label: str
    value: Value
    at_least: float | None = None

    def values(self, rounds: Sequence[Round], contender: str) -> list[float]:
        return [self.value(outcomes, contender) for outcomes in rounds]

    def is_missed(self, rounds: Sequence[Round], contender: str) -> bool:
        return self.at_least is not None and median(self.values(rounds, contender)) < self.at_least


@dataclass(frozen=True)
class Metric:
    """A number measured in one or several rounds, with an optional target."""

    label: str
    values: list[float]
    at_least: float | None = None
    at_most: float | None = None

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


def summarize_missed_metrics(metrics: Sequence[Metric]) -> str:
    missed = [metric.label for metric in metrics if not metric.is_met]
    return f"Missed: {'; '.join(missed)}." if missed else "Every target is met."


def render(
    rows: Sequence[Row], rounds: Sequence[Round], contenders: Sequence[str], chosen: str
) -> str:
    """Return the table as Markdown. Only the chosen contender has targets."""
    cells = [["", *contenders, f"target for {chosen}"]]
    for row in rows:
        spreads = [_spread(row.values(rounds, contender)) for contender in contenders]
        cells.append([row.label, *spreads, _verdict(row, rounds, chosen)])
    return markdown(cells)


def markdown(cells: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table. The first row is its header."""
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    header, *rows = cells
    return "\n".join(_line(row, widths) for row in (header, ["-" * w for w in widths], *rows))


def summarize_missed_rows(rows: Sequence[Row], rounds: Sequence[Round], chosen: str) -> str:
    missed = [row.label for row in rows if row.is_missed(rounds, chosen)]
    if not missed:
        return f"{chosen} meets every target."
    return f"{chosen} misses {len(missed)}: {'; '.join(missed)}."


def write_between_markers(document: Path, name: str, text: str) -> None:
    """Replace the text between `<!-- name -->` and `<!-- end of name -->` in a document."""
    start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, _, rest = document.read_text().partition(start)
    _, separator, after = rest.partition(end)
    if not separator:
        raise ValueError(f"{document.name} contains no markers for {name}.")
    document.write_text(f"{before}{start}\n{text}\n\n{end}{after}")


def _verdict(row: Row, rounds: Sequence[Round], chosen: str) -> str:
    if row.at_least is None:
        return ""
    verdict = "missed" if row.is_missed(rounds, chosen) else "met"
    return f"at least {row.at_least}: {verdict}"


def _spread(values: Sequence[float]) -> str:
    return f"{_number(median(values))} ({_number(min(values))} to {_number(max(values))})"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
    return f"| {' | '.join(padded)} |"
