"""What was asked and answered, in plain numbers: whoever wants to know takes them away. Pure."""

from collections import Counter, deque
from dataclasses import dataclass, field

# While nobody takes them away.
_MOST_TIMES = 10_000


@dataclass
class QueryCounters:
    """Of many calls. Not to the last one where threads count at the same moment."""

    # Domains of which all was known, and those that had to be searched for.
    known_domains: int = 0
    searches: int = 0
    # Questions whose answer was remembered, and those that went out.
    known_answers: int = 0
    questions: int = 0
    # By outcome.
    answers: Counter[str] = field(default_factory=Counter)
    # Until each of them was answered.
    seconds: deque[float] = field(default_factory=lambda: deque(maxlen=_MOST_TIMES))
