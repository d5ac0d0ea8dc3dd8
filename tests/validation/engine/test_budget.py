"""How many messages one lookup sends, counted by the resolver that receives them."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.servers.dns import World, dns_server, endless_alias, silence
from tests.validation.engine.conftest import SECONDS
from tests.validation.engine.hostile_domains import (
    HOSTILE,
    endless_aliases,
    failing_hosts,
    hosts_of,
    many_hosts,
    names_hosts,
    silent_hosts,
)
from validation.engine.check import Engine
from validation.engine.dns.resolver import Resolver

pytestmark = pytest.mark.anywhere

Script = Callable[[World, str], None]
hostile = pytest.mark.parametrize("script", HOSTILE)

LARGEST, LARGEST_FOR_SIGN_UP, MOST_HOSTS = 60, 4, 10


def verdict_and_reason(engine: Engine) -> tuple[str, str]:
    finding = engine.check("jane@shop.com")
    return finding.verdict, finding.reason


@hostile
def test_a_call_sends_at_most_sixty_messages(patient: Engine, world: World, script: Script) -> None:
    script(world, "shop.com")
    assert verdict_and_reason(patient) == ("unknown", "dns_failure")
    assert 0 < world.messages <= LARGEST


@hostile
def test_a_call_over_two_resolvers_sends_at_most_sixty_messages(
    world: World, server: str, script: Script
) -> None:
    other = World()
    for one in (world, other):
        script(one, "shop.com")
    with dns_server(other) as second:
        engine = Engine(Resolver([server, second], seconds=3 * SECONDS))
        assert verdict_and_reason(engine) == ("unknown", "dns_failure")
    assert 0 < world.messages + other.messages <= LARGEST


@hostile
def test_many_calls_for_one_domain_share_one_budget(
    engine: Engine, world: World, script: Script
) -> None:
    script(world, "shop.com")
    with ThreadPoolExecutor(16) as pool:
        findings = pool.map(engine.check, (f"jane{number}@shop.com" for number in range(32)))
        assert {finding.verdict for finding in findings} == {"unknown"}
    assert 0 < world.messages <= LARGEST


def test_each_of_many_subdomains_has_a_budget_of_its_own(engine: Engine, world: World) -> None:
    domains = [f"{number}.shop.com" for number in range(8)]
    for domain in domains:
        endless_aliases(world, domain)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(engine.check, (f"jane@{domain}" for domain in domains)))
    assert 0 < world.messages <= LARGEST * len(domains)


@pytest.mark.parametrize("script", [many_hosts, silent_hosts, failing_hosts])
def test_only_the_ten_preferred_hosts_are_looked_up(
    engine: Engine, world: World, script: Script
) -> None:
    script(world, "shop.com")
    engine.check("jane@shop.com")
    asked = {name for name, kind in world.asked if kind in {"A", "AAAA"}}
    assert asked == set(hosts_of("shop.com", count=MOST_HOSTS))


def test_the_eleventh_host_is_not_needed_where_the_tenth_has_an_address(
    patient: Engine, world: World
) -> None:
    names_hosts(world, "shop.com")
    world.has(f"mx{MOST_HOSTS - 1}.shop.com", A="8.8.8.8")
    finding = patient.check("jane@shop.com")
    assert finding.reason == "domain_accepts_mail"
    assert len(finding.route.hosts) == 100


@pytest.mark.parametrize("kind", ["A", "AAAA"])
def test_a_domain_with_twelve_working_hosts_is_deliverable(
    patient: Engine, world: World, kind: str
) -> None:
    hosts = hosts_of("shop.com", count=12)
    world.has("shop.com", MX=[f"10 {host}." for host in hosts])
    for host in hosts:
        world.has(host, **{kind: "8.8.8.8" if kind == "A" else "2606:4700::1"})
    assert patient.check("jane@shop.com").reason == "domain_accepts_mail"


def test_ten_hosts_without_an_address_are_a_verdict(patient: Engine, world: World) -> None:
    """None was skipped, and the budget was enough."""
    hosts = hosts_of("shop.com", count=MOST_HOSTS)
    world.has("shop.com", MX=[f"10 {host}." for host in hosts])
    assert patient.check("jane@shop.com").reason == "no_mail_server"


def test_silence_of_few_hosts_is_still_a_timeout(engine: Engine, world: World) -> None:
    world.has("shop.com", MX="10 mx.shop.com.")
    for kind in ("A", "AAAA"):
        world.behaves("mx.shop.com", kind, silence)
    assert engine.check("jane@shop.com").reason == "dns_timeout"


@hostile
def test_a_sign_up_sends_at_most_four_messages(
    engine: Engine, world: World, script: Script
) -> None:
    script(world, "shop.com")
    engine.check_for_sign_up("jane@shop.com")
    assert 0 < world.messages <= LARGEST_FOR_SIGN_UP


@pytest.mark.parametrize("behaviour", [None, silence])
def test_a_call_after_a_sign_up_looks_the_domain_up_in_full(
    patient: Engine, world: World, behaviour: Callable[..., None] | None
) -> None:
    """What a sign-up did not ask about is not unknown to the next caller."""
    world.takes_mail("shop.com")
    world.has("shop.com", TXT='"v=spf1 mx -all"')
    if behaviour is not None:
        world.behaves("shop.com", "MX", behaviour)
    patient.check_for_sign_up("jane@shop.com")
    world.behaviours.clear()
    finding = patient.check("jane@shop.com")
    assert (finding.reason, finding.route.spf) == ("domain_accepts_mail", "strict")
    assert finding.dns_cached is False


def test_a_name_too_far_away_for_a_sign_up_is_found_by_the_next_call(
    patient: Engine, world: World
) -> None:
    """Five aliases are more than a sign-up follows, and fewer than a call does."""
    world.takes_mail("xxxxxshop.com")
    for hops in range(5):
        world.behaves("x" * hops + "shop.com", "MX", endless_alias)
    patient.check_for_sign_up("jane@shop.com")
    assert patient.check("jane@shop.com").reason == "domain_accepts_mail"


class Limit:
    def __init__(self) -> None:
        self.asked = self.exhausted = 0

    def allows_lookup(self) -> bool:
        self.asked += 1
        return True

    def note_exhausted(self) -> None:
        self.exhausted += 1


def test_a_callers_limit_is_asked_only_before_a_lookup(patient: Engine, world: World) -> None:
    limit = Limit()
    world.takes_mail("shop.com")
    for email in ("no address", "jane@shop.example", "jane@shop.com", "joe@shop.com"):
        patient.check(email, limit)
    assert (limit.asked, limit.exhausted) == (1, 0)


def test_a_lookup_that_uses_up_its_budget_counts_once(patient: Engine, world: World) -> None:
    limit = Limit()
    endless_aliases(world, "shop.com")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: patient.check(f"{name}@shop.com", limit), "abcdefgh"))
    assert limit.exhausted == 1
