"""What was learned, for as long as it holds. Bounded, and shared by all threads."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

# Whoever owns a domain makes any number of names below it: they push out each other, and not what
# is known of other domains.
LARGEST_SHARE = 32


class Cache(Generic[K, V]):
    """The entry that was unused for longest makes room; in a full share, the owner's oldest."""

    def __init__(self, size: int, clock: Callable[[], float]) -> None:
        self._size = size
        self._share = max(16, size // LARGEST_SHARE)
        self._clock = clock
        self._lock = threading.Lock()
        self._entries: OrderedDict[K, tuple[V, float, str, float]] = OrderedDict()
        self._keys_of: dict[str, OrderedDict[K, None]] = {}

    def get(self, key: K) -> V | None:
        # Without the lock: this is what a warm call costs.
        entry = self._entries.get(key)
        if entry is None or entry[1] <= self._clock():
            return None
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
        return entry[0]

    def put(self, key: K, value: V, *, until: float, owner: str) -> None:
        with self._lock:
            self._remove(key)
            if len(self._keys_of.get(owner, ())) >= self._share:
                self._remove(next(iter(self._keys_of[owner])))
            elif len(self._entries) >= self._size:
                self._remove(next(iter(self._entries)))
            self._entries[key] = (value, until, owner, self._clock())
            self._keys_of.setdefault(owner, OrderedDict())[key] = None

    def drop_since(self, moment: float) -> None:
        """Forgets what was learned since then."""
        with self._lock:
            for key in [key for key, entry in self._entries.items() if entry[3] >= moment]:
                self._remove(key)

    def _remove(self, key: K) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            keys = self._keys_of[entry[2]]
            del keys[key]
            if not keys:
                del self._keys_of[entry[2]]

    def __len__(self) -> int:
        return len(self._entries)
