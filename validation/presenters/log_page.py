from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode

from accounts.date_display import current_zone, date_format, exact_time
from accounts.presenters.charts import MAX_LABELS, Chart, choose_labeled, draw_chart
from validation.models import LogEntry
from validation.presenters.retention import format_days
from validation.presenters.usage import REQUESTS, format_count
from validation.request_log.filters import RANGES, REFUSED, LogFilter, time_param
from validation.request_log.histogram import OTHER, OUTCOMES, STEPS, Bar, Histogram

RANGE_LABELS = {"15m": "15 min", "1h": "1 h", "24h": "24 h", "7d": "7 days", "30d": "30 days"}


@dataclass(frozen=True)
class LogChart:
    summary: str
    note: str
    # Name, number, and the query with this filter, if there is one.
    outcomes: list[tuple[str, int, str]]
    chart: Chart
    uncounted_width: int


def present_chips(form: LogFilter, entries: Sequence[LogEntry]) -> list[tuple[str, str, str]]:
    """Return the name and value of each filter, and the query without it."""
    texts = dict(form.filters)
    if "key" in texts and not form.errors:
        texts["key"] = form.key.name if form.key else "Playground"
    if "address" in texts:
        texts["address"] = entries[0].address if entries else "one address"
    chips = [(name, text, _query(form, **{name: ""})) for name, text in texts.items()]
    if form.has_times:
        text = "invalid" if form.errors else _period(form, 0)
        chips.append(("time", text, _query(form, since="", until="")))
    return chips


def range_links(form: LogFilter, retention_days: int) -> list[tuple[str, str, bool]]:
    """Return the ranges shorter than the retention, and the retention."""
    shorter = [name for name, length in RANGES.items() if length < timedelta(days=retention_days)]
    labels = {name: RANGE_LABELS[name] for name in shorter} | {"": format_days(retention_days)}
    active = None if form.has_times else form.params.get("range", "")
    return [
        (_query(form, since="", until="", range=name), label, name == active)
        for name, label in labels.items()
    ]


def present_chart(form: LogFilter, histogram: Histogram, retention_days: int) -> LogChart:
    bars, back_to, total = histogram.bars, histogram.counted_back_to, histogram.total
    titles = []
    for bar, counts in zip(bars, histogram.counts, strict=True):
        split = [f"{counts[name]:,} {name}" for name in OUTCOMES if counts[name]]
        count = format_count(counts.total(), REQUESTS)
        titles.append("\n".join([f"{_describe_times(*bar)}: {count}", *split]))
    times = [{"since": time_param(start), "until": time_param(stop)} for start, stop in bars]
    urls = [f"?{_query(form, range='', **each)}" for each in times]
    stacks = [{name: counts[name] for name in OUTCOMES} for counts in histogram.counts]
    chart = draw_chart(stacks, titles, urls, _axis_labels(bars))
    number = format_count(total.total(), REQUESTS)
    note = f"Counted back to {exact_time(back_to)}. Choose a shorter range." if back_to else ""
    uncounted = sum(stop <= back_to for _, stop in bars) if back_to else 0
    return LogChart(
        f"{_period(form, retention_days)}: {f'at least {number}' if back_to else number}",
        note,
        [
            (name, total[name], _outcome_query(form, name))
            for name in OUTCOMES
            if total[name] or name != OTHER
        ],
        chart,
        uncounted * chart.width // len(bars),
    )


def _outcome_query(form: LogFilter, name: str) -> str:
    if name == OTHER:
        return ""
    is_refused = name == REFUSED
    return _query(form, verdict="" if is_refused else name, status=REFUSED if is_refused else "")


def _query(form: LogFilter, **changes: str) -> str:
    return urlencode({name: value for name, value in (form.params | changes).items() if value})


def _period(form: LogFilter, retention_days: int) -> str:
    since, until, name = (form.cleaned_data[name] for name in ("since", "until", "range"))
    if since and until:
        return _describe_times(since, until)
    if since or until:
        return f"{'Since' if since else 'Until'} {date_format(since or until, 'DATETIME_FORMAT')}"
    return f"Last {RANGE_LABELS.get(name) or format_days(retention_days)}"


def _describe_times(start: datetime, end: datetime) -> str:
    first, last = (at.astimezone(current_zone()) for at in (start, end))
    name = "TIME_FORMAT" if first.date() == last.date() else "DATETIME_FORMAT"
    return f"{date_format(first, 'DATETIME_FORMAT')} to {date_format(last, name)}"


def _axis_labels(bars: Sequence[Bar]) -> dict[int, str]:
    starts = [start.astimezone(current_zone()) for start, _ in bars]
    minutes = [start.hour * 60 + start.minute for start in starts]
    for step in STEPS:
        round_times = [number for number, minute in enumerate(minutes) if minute % step == 0]
        if len(round_times) <= MAX_LABELS + 1:
            break
    labeled = [round_times[position] for position in choose_labeled(len(round_times))]
    names = {n: "TIME_FORMAT" if minutes[n] else "MONTH_DAY_FORMAT" for n in labeled}
    return {number: date_format(starts[number], name) for number, name in names.items()}
