from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from django.utils import timezone

from accounts.presenters.charts import draw_line

MAX_WIDE_NUMBER = 999_999_999
TREND_DAYS = 30


@dataclass(frozen=True)
class Stat:
    label: str
    value: int | str
    unit: str = ""
    note: str = ""
    values: Sequence[float] = ()
    # The period before.
    previous: Sequence[float] = ()
    url: str = ""

    @property
    def text(self) -> str:
        return f"{self.value:,}" if isinstance(self.value, int) else self.value

    @property
    def sparkline(self) -> str:
        """Return a line in a square of 100, or nothing to draw."""
        return self._draw(self.values)

    @property
    def previous_line(self) -> str:
        return self._draw(self.previous) if any(self.previous) else ""

    @property
    def is_long(self) -> bool:
        return isinstance(self.value, int) and self.value > MAX_WIDE_NUMBER

    def _draw(self, values: Sequence[float]) -> str:
        highest, step = max((*self.values, *self.previous), default=0), max(1, len(values) - 1)
        return draw_line(values, highest, 0, 100 / step) if highest > 0 else ""


def trend_start() -> date:
    """Return the first day that `show_trend` needs."""
    return timezone.now().date() - timedelta(days=2 * TREND_DAYS - 1)


def show_trend(label: str, by_day: Mapping[date, int], url: str = "") -> Stat:
    """Compare 30 days, in UTC, with the 30 before. Today isn't over, so it isn't compared."""
    counts = [by_day.get(trend_start() + timedelta(days=i), 0) for i in range(2 * TREND_DAYS)]
    before, now = counts[:TREND_DAYS], counts[TREND_DAYS:]
    total, compared = sum(before[:-1]), sum(now[:-1])
    note = "None in the 30 days before"
    if total > 0:
        percent = round(100 * (compared / total - 1))
        note = f"{percent:+,}% vs previous 30 days".replace("-", "\N{MINUS SIGN}")
    return Stat(label, sum(now), note=note, values=now, previous=before, url=url)
