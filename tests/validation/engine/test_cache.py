"""What is remembered, how long, and that nobody pushes out what others asked."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.servers.dns import World, silence
from validation.engine.check import Engine
from validation.engine.dns.cache import LARGEST_SHARE, Cache
from validation.engine.dns.resolver import Resolver
from validation.engine.dns.slots import SearchSlots

pytestmark = pytest.mark.anywhere


class Clock:
    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        return time.monotonic() + self.ahead


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def engine(server: str, clock: Clock) -> Engine:
    return Engine(Resolver([server], seconds=1, clock=clock))


@pytest.mark.parametrize(
    ("ttl", "still", "no_more"),
    [(300, 290, 310), (0, 4, 6), (1, 4, 6), (86_400, 3_590, 3_610), (2**31 - 1, 3_590, 3_610)],
)
def test_an_answer_holds_as_long_as_it_says_within_limits(
    engine: Engine, world: World, clock: Clock, ttl: int, still: float, no_more: float
) -> None:
    world.ttl = ttl
    world.takes_mail("shop.com")
    # What there is not holds for another time.
    world.has("shop.com", TXT='"v=spf1 -all"')
    world.has("_dmarc.shop.com", TXT='"v=DMARC1"')
    world.has("mx.shop.com", AAAA="2606:4700::1")
    for ahead, was_cached in ((0, False), (still, True), (no_more, False)):
        clock.ahead = ahead
        assert engine.check("jane@shop.com").dns_cached is was_cached


def test_that_there_is_nothing_holds_as_long_as_the_zone_says(
    engine: Engine, world: World, clock: Clock
) -> None:
    for ahead, was_cached in ((0, False), (55, True), (65, False)):
        clock.ahead = ahead
        assert engine.check("jane@nowhere.com").dns_cached is was_cached


def test_a_failure_holds_for_seconds(engine: Engine, world: World, clock: Clock) -> None:
    world.behaves("shop.com", "MX", silence)
    assert engine.check("jane@shop.com").reason == "dns_timeout"
    del world.behaviours["shop.com", "MX"]
    world.takes_mail("shop.com")
    assert engine.check("jane@shop.com").reason == "dns_timeout"
    clock.ahead = 6
    assert engine.check("jane@shop.com").reason == "domain_accepts_mail"


def test_what_is_known_is_known_while_the_resolver_is_away(
    engine: Engine, world: World, clock: Clock
) -> None:
    world.takes_mail("shop.com")
    engine.check("jane@shop.com")
    world.always = silence
    assert engine.check("joe@shop.com").reason == "domain_accepts_mail"
    assert engine.check("joe@other.com").reason == "dns_timeout"


def test_domains_share_what_is_known_of_their_mail_hosts(engine: Engine, world: World) -> None:
    for domain in ("one.com", "two.com"):
        world.takes_mail(domain, "mx.provider.com")
        engine.check(f"jane@{domain}")
    assert world.asked["mx.provider.com", "A"] == 1


def test_a_cold_check_takes_two_round_trips(server: str, world: World) -> None:
    world.delay = 0.2
    world.has("shop.com", MX=["1 a.shop.com.", "2 b.shop.com."], TXT='"v=spf1 redirect=s.com"')
    for host in ("a.shop.com", "b.shop.com"):
        world.has(host, A="8.8.8.8")
    Engine(Resolver([server], seconds=20)).check("jane@shop.com")
    trips = {int((when - world.times[0]) / world.delay) for when in world.times}
    assert trips == {0, 1}
    assert set(world.asked.values()) == {1}


@pytest.mark.parametrize("address", ["jane@shop.com", "jane@nowhere.com"])
def test_callers_of_one_cold_domain_ask_once(server: str, world: World, address: str) -> None:
    # With so much patience that a busy machine makes nobody ask a second time.
    engine = Engine(Resolver([server], seconds=20))
    world.takes_mail("shop.com")
    world.delay = 0.05
    with ThreadPoolExecutor(64) as pool:
        reasons = set(pool.map(lambda _: engine.check(address).reason, range(640)))
    assert len(reasons) == 1
    assert set(world.asked.values()) == {1}


def test_a_full_cache_forgets_what_was_unused_for_longest(clock: Clock) -> None:
    cache: Cache[int, int] = Cache(LARGEST_SHARE, clock)
    for key in range(LARGEST_SHARE):
        cache.put(key, key, until=clock() + 10, owner=str(key))
    assert cache.get(0) == 0
    cache.put(-1, -1, until=clock() + 10, owner="new")
    assert (cache.get(0), cache.get(1), len(cache)) == (0, None, LARGEST_SHARE)


def test_the_owner_of_many_names_pushes_out_their_own(clock: Clock) -> None:
    cache: Cache[str, int] = Cache(LARGEST_SHARE * 2, clock)
    cache.put("quiet.com", 1, until=clock() + 10, owner="quiet.com")
    for number in range(10_000):
        cache.put(f"{number}.loud.com", 1, until=clock() + 10, owner="loud.com")
    assert cache.get("quiet.com") == 1
    assert len(cache) == 1 + 16


def test_names_of_one_owner_that_hang_do_not_hold_up_others(world: World, server: str) -> None:
    engine = Engine(Resolver([server], seconds=2), slots=SearchSlots(8, 4))
    world.takes_mail("shop.com")
    for number in range(16):
        world.behaves(f"{number}.loud.com", "MX", silence)
    with ThreadPoolExecutor(17) as pool:
        loud = [pool.submit(engine.check, f"a@{number}.loud.com") for number in range(16)]
        time.sleep(0.2)
        began = time.monotonic()
        assert engine.check("jane@shop.com").reason == "domain_accepts_mail"
        assert time.monotonic() - began < 1
        assert {one.result().reason for one in loud} == {"dns_timeout"}
    assert time.monotonic() - began < 4
