import threading
import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager


class LookupShare:
    def __init__(self, lookups: int) -> None:
        self.lookups = lookups
        self._slots = threading.Semaphore(lookups)

    @contextmanager
    def acquire(self, ends_at: float) -> Iterator[bool]:
        """Yield False if no slot became free in time."""
        is_acquired = self._slots.acquire(timeout=_seconds_until(ends_at))
        try:
            yield is_acquired
        finally:
            if is_acquired:
                self._slots.release()


def _seconds_until(moment: float) -> float:
    return max(0.0, moment - time.monotonic())


def run_until(
    ends_at: float, look_up: Callable[[str], None], domains: Collection[str], share: LookupShare
) -> None:
    """Look up the domains in threads until the deadline, without waiting for the rest."""

    def run(domain: str) -> None:
        with share.acquire(ends_at) as is_acquired:
            if is_acquired:
                look_up(domain)

    pool = ThreadPoolExecutor(min(share.lookups, len(domains)), thread_name_prefix="batch")
    try:
        wait([pool.submit(run, domain) for domain in domains], _seconds_until(ends_at))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
