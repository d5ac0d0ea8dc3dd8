"""Look up many domains in threads, and look up again what timed out through our own fault.

for domain, route in look_up_all(engine, domains, threads=64): …
"""

import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed

from validation.engine.check import Engine
from validation.engine.dns.mail_route import MailRoute

# With each further attempt, a quarter as many lookups run at the same time.
ATTEMPTS, FEWER = 3, 4
# A thread that starts later than this share of the resolver's time limit misses replies.
_MAX_LAG_SHARE = 1 / 12
_LAG_INTERVAL = 0.05


def look_up_all(
    engine: Engine, domains: Sequence[str], *, threads: int
) -> Iterator[tuple[str, MailRoute]]:
    """Yield each domain and its route, in the order in which they become known.

    A timeout while this process lagged says nothing about the domain, so it is looked up again,
    with fewer lookups at the same time.
    """
    for attempt in range(ATTEMPTS):
        is_last = attempt == ATTEMPTS - 1
        doubtful = []
        with LagMonitor() as monitor:
            for domain, route in _look_up(engine, domains, threads, is_repeated=attempt > 0):
                if route.problem == "dns_timeout" and not is_last:
                    doubtful.append((domain, route))
                else:
                    yield domain, route
        if monitor.longest <= engine.resolver.seconds * _MAX_LAG_SHARE:
            yield from doubtful
            return
        domains, threads = [domain for domain, _ in doubtful], max(1, threads // FEWER)


def _look_up(
    engine: Engine, domains: Sequence[str], threads: int, *, is_repeated: bool
) -> Iterator[tuple[str, MailRoute]]:
    def look_up(domain: str) -> tuple[str, MailRoute]:
        try:
            return domain, engine.look_up(domain, ignores_cache=is_repeated)
        finally:
            engine.after_thread()

    if not domains:
        return
    with ThreadPoolExecutor(min(threads, len(domains)), "lookup") as pool:
        for future in as_completed([pool.submit(look_up, domain) for domain in domains]):
            yield future.result()


class LagMonitor:
    """Measures how late a thread of this process wakes up. `longest` is the worst, in seconds."""

    longest = 0.0

    def __enter__(self) -> "LagMonitor":
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._measure, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()

    def _measure(self) -> None:
        is_stopped = False
        while not is_stopped:
            started = time.monotonic()
            is_stopped = self._stopped.wait(_LAG_INTERVAL)
            self.longest = max(self.longest, time.monotonic() - started - _LAG_INTERVAL)
