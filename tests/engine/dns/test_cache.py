"""What is cached, for how long, and that one owner can't evict others' entries."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from engine.check import Engine
from engine.dns.cache import OWNER_SHARE_DIVISOR, Cache
from engine.dns.resolver import Resolver
from engine.dns.slots import LookupSlots
from tests.engine.dns.conftest import Clock
from tests.servers.dns import FakeDns, silence


@pytest.fixture
def engine(server: str, clock: Clock) -> Engine:
    return Engine(Resolver([server], seconds=1, clock=clock))


@pytest.mark.parametrize(
    ("ttl", "hit_at", "miss_at"),
    [(300, 290, 310), (0, 4, 6), (1, 4, 6), (86_400, 3_590, 3_610), (2**31 - 1, 3_590, 3_610)],
)
def test_reply_is_cached_for_its_ttl_within_bounds(
    engine: Engine, fake_dns: FakeDns, clock: Clock, ttl: int, hit_at: float, miss_at: float
) -> None:
    fake_dns.ttl = ttl
    fake_dns.add_mail_domain("shop.com")
    # Missing records would expire after the SOA minimum instead.
    fake_dns.add_records("shop.com", TXT='"v=spf1 -all"')
    fake_dns.add_records("_dmarc.shop.com", TXT='"v=DMARC1"')
    fake_dns.add_records("mx.shop.com", AAAA="2606:4700::1")
    for ahead, is_cached in ((0, False), (hit_at, True), (miss_at, False)):
        clock.ahead = ahead
        assert engine.check("jane@shop.com").dns_cached is is_cached


def test_negative_reply_is_cached_for_the_soa_minimum(
    engine: Engine, fake_dns: FakeDns, clock: Clock
) -> None:
    for ahead, is_cached in ((0, False), (55, True), (65, False)):
        clock.ahead = ahead
        assert engine.check("jane@nowhere.com").dns_cached is is_cached


def test_failure_is_cached_for_seconds(engine: Engine, fake_dns: FakeDns, clock: Clock) -> None:
    fake_dns.set_behavior("shop.com", "MX", silence)
    assert engine.check("jane@shop.com").reason == "dns_timeout"
    del fake_dns.behaviors["shop.com", "MX"]
    fake_dns.add_mail_domain("shop.com")
    assert engine.check("jane@shop.com").reason == "dns_timeout"
    clock.ahead = 6
    assert engine.check("jane@shop.com").reason == "domain_accepts_mail"


def test_cached_domain_is_available_while_the_resolver_is_down(
    engine: Engine, fake_dns: FakeDns, clock: Clock
) -> None:
    fake_dns.add_mail_domain("shop.com")
    engine.check("jane@shop.com")
    fake_dns.default_behavior = silence
    assert engine.check("joe@shop.com").reason == "domain_accepts_mail"
    assert engine.check("joe@other.com").reason == "dns_timeout"


def test_cold_check_takes_two_round_trips(server: str, fake_dns: FakeDns) -> None:
    fake_dns.delay = 0.2
    fake_dns.add_records(
        "shop.com", MX=["1 a.shop.com.", "2 b.shop.com."], TXT='"v=spf1 redirect=s.com"'
    )
    for host in ("a.shop.com", "b.shop.com"):
        fake_dns.add_records(host, A="8.8.8.8")
    Engine(Resolver([server], seconds=20)).check("jane@shop.com")
    trips = {int((when - fake_dns.times[0]) / fake_dns.delay) for when in fake_dns.times}
    assert trips == {0, 1}
    assert set(fake_dns.queries.values()) == {1}


@pytest.mark.parametrize("address", ["jane@shop.com", "jane@nowhere.com"])
def test_concurrent_checks_of_a_cold_domain_send_each_query_once(
    server: str, fake_dns: FakeDns, address: str
) -> None:
    # The long time limit keeps a busy machine from causing retries.
    engine = Engine(Resolver([server], seconds=20))
    fake_dns.add_mail_domain("shop.com")
    fake_dns.delay = 0.05
    with ThreadPoolExecutor(64) as pool:
        reasons = set(pool.map(lambda _: engine.check(address).reason, range(640)))
    assert len(reasons) == 1
    assert set(fake_dns.queries.values()) == {1}


def test_full_cache_evicts_the_least_recently_used_entry(clock: Clock) -> None:
    cache: Cache[int, int] = Cache(OWNER_SHARE_DIVISOR, clock)
    for key in range(OWNER_SHARE_DIVISOR):
        cache.put(key, key, expires_at=clock() + 10, owner=str(key))
    assert cache.get(0) == 0
    cache.put(-1, -1, expires_at=clock() + 10, owner="new")
    assert (cache.get(0), cache.get(1), len(cache)) == (0, None, OWNER_SHARE_DIVISOR)


def test_owner_of_many_names_evicts_only_their_own_entries(clock: Clock) -> None:
    cache: Cache[str, int] = Cache(OWNER_SHARE_DIVISOR * 2, clock)
    cache.put("quiet.com", 1, expires_at=clock() + 10, owner="quiet.com")
    for number in range(10_000):
        cache.put(f"{number}.loud.com", 1, expires_at=clock() + 10, owner="loud.com")
    assert cache.get("quiet.com") == 1
    assert len(cache) == 1 + 16


def test_hanging_names_of_one_owner_do_not_delay_others(fake_dns: FakeDns, server: str) -> None:
    engine = Engine(Resolver([server], seconds=3), slots=LookupSlots(8, 4))
    fake_dns.add_mail_domain("shop.com")
    for number in range(16):
        fake_dns.set_behavior(f"{number}.loud.com", "MX", silence)
    with ThreadPoolExecutor(17) as pool:
        loud = [pool.submit(engine.check, f"a@{number}.loud.com") for number in range(16)]
        started = time.monotonic()
        time.sleep(0.2)
        assert engine.check("jane@shop.com").reason == "domain_accepts_mail"
        assert not any(check.done() for check in loud)
        assert {check.result().reason for check in loud} == {"dns_timeout"}
    # One after the other, four at a time, they would take 12 s.
    assert time.monotonic() - started < 9
