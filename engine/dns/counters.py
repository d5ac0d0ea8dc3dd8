from collections import Counter, deque
from dataclasses import dataclass, field

_MAX_REPLY_TIMES = 10_000


@dataclass
class QueryCounters:
    """Count since the last collection. Without a lock, threads may lose a few."""

    cached_domains: int = 0
    lookups: int = 0
    cached_replies: int = 0
    queries: int = 0
    replies: Counter[str] = field(default_factory=Counter)
    seconds: deque[float] = field(default_factory=lambda: deque(maxlen=_MAX_REPLY_TIMES))
