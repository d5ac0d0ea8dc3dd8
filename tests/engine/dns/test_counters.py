"""The engine's own counters agree with what the DNS server received."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

from engine.check import Engine
from engine.dns.resolver import Resolver
from engine.dns.slots import LookupSlots
from tests.engine.conftest import SECONDS
from tests.servers.dns import FakeDns


def test_queries_and_cache_hits_are_counted(engine: Engine, fake_dns: FakeDns) -> None:
    fake_dns.add_mail_domain("shop.com", "mx.shared.com")
    fake_dns.add_mail_domain("other.com", "mx.shared.com")
    for domain in ("shop.com", "shop.com", "other.com"):
        assert engine.check(f"jane@{domain}").is_definite
    counters = engine.resolver.take_counters()
    assert (counters.cached_domains, counters.lookups) == (1, 2)
    # The last query may still be in flight when the check ends.
    assert 7 <= sum(fake_dns.queries.values()) <= counters.queries <= 9
    assert counters.cached_replies >= 1
    assert counters.replies["found"] >= 3
    assert sum(counters.replies.values()) == len(counters.seconds) <= counters.queries
    assert all(0 <= seconds < SECONDS for seconds in counters.seconds)
    assert engine.resolver.take_counters().queries == 0


def test_silent_server_counts_as_a_timeout(engine: Engine, fake_dns: FakeDns) -> None:
    fake_dns.default_behavior = lambda _: None
    assert engine.check("jane@shop.com").reason == "dns_timeout"
    assert engine.resolver.take_counters().replies["timeout"] >= 1


def test_waiting_and_active_lookups_are_counted(fake_dns: FakeDns, server: str) -> None:
    # All four checks start within it.
    fake_dns.delay = 0.5
    engine = Engine(Resolver([server], seconds=60), slots=LookupSlots(1, 1))
    peak = [0, 0]
    is_finished = threading.Event()

    def watch() -> None:
        while not is_finished.is_set():
            peak[0] = max(peak[0], engine.slots.waiting)
            peak[1] = max(peak[1], engine.slots.active)
            time.sleep(0.001)

    watcher = threading.Thread(target=watch)
    watcher.start()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(engine.check, (f"jane@{name}.shop.com" for name in "abcd")))
    is_finished.set()
    watcher.join()
    assert peak == [3, 1]
    assert (engine.slots.waiting, engine.slots.active) == (0, 0)
