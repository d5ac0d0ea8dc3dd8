"""Count queries and replies as plain numbers, which the caller collects for its metrics. Pure."""

from collections import Counter, deque
from dataclasses import dataclass, field

# Bounds the list of reply times when no caller collects them.
_MAX_REPLY_TIMES = 10_000


@dataclass
class QueryCounters:
    """Counts since the last collection. Threads update it without a lock and may lose a few."""

    # Domains found in the cache, and domains that were looked up.
    cached_domains: int = 0
    lookups: int = 0
    # Queries served from the cache, and queries that were sent.
    cached_replies: int = 0
    queries: int = 0
    # By outcome.
    replies: Counter[str] = field(default_factory=Counter)
    # How long each reply took.
    seconds: deque[float] = field(default_factory=lambda: deque(maxlen=_MAX_REPLY_TIMES))
