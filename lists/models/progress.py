"""The speed of a list, from marks: recent times, each with the work done by then."""

# Looking up a domain takes about as long as checking ten addresses.
WORK_PER_DOMAIN = 10
_MARK_SECONDS, _WINDOW_SECONDS = 5.0, 30.0

Marks = list[tuple[float, int]]


def add_mark(marks: Marks, now: float, work: int) -> Marks:
    """Add a mark if the last one is old enough. Keep one from before the window, its start."""
    if marks and now - marks[-1][0] < _MARK_SECONDS:
        return marks
    recent = [mark for mark in marks if now - mark[0] <= _WINDOW_SECONDS]
    older = marks[: len(marks) - len(recent)]
    return [*older[-1:], *recent, (now, work)]


def find_speed(marks: Marks, now: float) -> float | None:
    """Return the work per second, or None without recent progress."""
    if len(marks) < 2 or now - marks[-1][0] > _WINDOW_SECONDS:
        return None
    (began, before), (ended, after) = marks[0], marks[-1]
    return (after - before) / (ended - began) if after > before else None
