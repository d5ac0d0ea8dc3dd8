import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

# An owner can create any number of names, so they evict each other.
OWNER_SHARE_DIVISOR = 32


class Cache(Generic[K, V]):
    """Evict the least recently used entry, or the owner's oldest if their share is full."""

    def __init__(self, size: int, clock: Callable[[], float]) -> None:
        self._size = size
        self._share = max(16, size // OWNER_SHARE_DIVISOR)
        self._clock = clock
        self._lock = threading.Lock()
        self._entries: OrderedDict[K, tuple[V, float, str, float]] = OrderedDict()
        self._keys_by_owner: dict[str, dict[K, None]] = {}

    def get(self, key: K) -> V | None:
        # Without the lock: this read is most of a warm check.
        entry = self._entries.get(key)
        if entry is None or entry[1] <= self._clock():
            return None
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
        return entry[0]

    def put(self, key: K, value: V, *, expires_at: float, owner: str) -> None:
        with self._lock:
            self._remove(key)
            if len(self._keys_by_owner.get(owner, ())) >= self._share:
                self._remove(next(iter(self._keys_by_owner[owner])))
            elif len(self._entries) >= self._size:
                self._remove(next(iter(self._entries)))
            self._entries[key] = (value, expires_at, owner, self._clock())
            self._keys_by_owner.setdefault(owner, {})[key] = None

    def drop_since(self, moment: float) -> None:
        with self._lock:
            for key in [key for key, entry in self._entries.items() if entry[3] >= moment]:
                self._remove(key)

    def _remove(self, key: K) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            keys = self._keys_by_owner[entry[2]]
            del keys[key]
            if not keys:
                del self._keys_by_owner[entry[2]]

    def __len__(self) -> int:
        return len(self._entries)
