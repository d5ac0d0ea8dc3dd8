"""What the engine counts of its own work is what the DNS server saw."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

from tests.servers.dns import World
from tests.validation.engine.conftest import SECONDS
from validation.engine.check import Engine
from validation.engine.dns.resolver import Resolver
from validation.engine.dns.slots import SearchSlots


def test_what_was_asked_and_what_was_known(engine: Engine, world: World) -> None:
    world.takes_mail("shop.com", "mx.shared.com")
    world.takes_mail("other.com", "mx.shared.com")
    for domain in ("shop.com", "shop.com", "other.com"):
        assert engine.check(f"jane@{domain}").is_definite
    tally = engine.resolver.take_counters()
    assert (tally.known_domains, tally.searches) == (1, 2)
    # The last of them may still be on its way when everything is known.
    assert 7 <= sum(world.asked.values()) <= tally.questions <= 9
    assert tally.known_answers >= 1
    assert tally.answers["found"] >= 3
    assert sum(tally.answers.values()) == len(tally.seconds) <= tally.questions
    assert all(0 <= seconds < SECONDS for seconds in tally.seconds)
    assert engine.resolver.take_counters().questions == 0


def test_silence_is_a_timeout(engine: Engine, world: World) -> None:
    world.always = lambda _: None
    assert engine.check("jane@shop.com").reason == "dns_timeout"
    assert engine.resolver.take_counters().answers["timeout"] >= 1


def test_searches_that_wait_are_counted_until_they_do_not(world: World, server: str) -> None:
    world.delay = 0.1
    engine = Engine(Resolver([server], seconds=5), slots=SearchSlots(1, 1))
    most = [0, 0]
    is_over = threading.Event()

    def watch() -> None:
        while not is_over.is_set():
            most[0] = max(most[0], engine.slots.waiting)
            most[1] = max(most[1], engine.slots.searching)
            time.sleep(0.001)

    watcher = threading.Thread(target=watch)
    watcher.start()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(engine.check, (f"jane@{name}.shop.com" for name in "abcd")))
    is_over.set()
    watcher.join()
    assert most == [3, 1]
    assert (engine.slots.waiting, engine.slots.searching) == (0, 0)
