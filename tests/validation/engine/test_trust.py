"""Resolvers that lie: they deny what exists, or invent what cannot. Nothing that depends on the lie
is believed until it stops."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import dns.message
import dns.rcode
import dns.rrset
import pytest

from tests.servers.dns import SENTINELS, World, dns_server, inventing, servfail, silence, with_code
from tests.validation.engine.conftest import SECONDS
from tests.validation.engine.test_cache import Clock
from validation.engine.check import Engine
from validation.engine.dns.resolver import Resolver

pytestmark = pytest.mark.anywhere

INVENTED = {"A": "8.8.8.8", "MX": "10 mx.invented.com."}


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def engine(server: str, clock: Clock) -> Engine:
    """Patient: silence on a busy machine is not a lie."""
    return Engine(Resolver([server], seconds=10 * SECONDS, clock=clock))


def deny(world: World, *names: str) -> None:
    world.existing = SENTINELS.difference(names or SENTINELS)


def invent(world: World, **records: str) -> None:
    world.below["invalid"] = inventing(**(records or INVENTED))


def reason(engine: Engine, domain: str) -> str:
    finding = engine.check(f"jane@{domain}")
    if finding.reason == "dns_failure":
        assert (finding.verdict, finding.document()["retry_after_s"]) == ("unknown", 300)
        assert set(finding.document()["domain_auth"].values()) == {None}
    return finding.reason


def script_verdicts(world: World) -> None:
    """A domain for each verdict, named after its reason."""
    world.takes_mail("domain-accepts-mail.com")
    world.has("null-mx.com", MX="0 .")
    world.has("no-mx-record.com", A="8.8.8.8")
    world.has("no-mail-server.com", MX="1 mx.nowhere.com.")
    world.has("no-host-named.com", TXT='"hello"')
    world.has("unroutable-mail-server.com", A="10.0.0.1")


def test_what_exists_is_not_believed_to_be_missing(engine: Engine, world: World) -> None:
    world.always = with_code(dns.rcode.NXDOMAIN)
    assert reason(engine, "gmail.com") == "dns_failure"


@pytest.mark.parametrize(
    "denied", [["com"], ["net"], ["org"], ["gmail.com", "qq.com"], ["gmx.net", "aol.com", "org"]]
)
def test_a_resolver_that_denies_what_exists_is_not_believed(
    engine: Engine, world: World, denied: list[str]
) -> None:
    deny(world, *denied)
    assert reason(engine, "nowhere.de") == "dns_failure"


@pytest.mark.parametrize("denied", sorted(SENTINELS - {"com", "net", "org"}))
def test_a_single_failing_name_proves_nothing(engine: Engine, world: World, denied: str) -> None:
    deny(world, denied)
    assert reason(engine, "nowhere.de") == "domain_not_found"
    assert world.probed.total() == 13


@pytest.mark.parametrize("behaviour", [silence, servfail, dns.message.make_response])
def test_sentinels_that_are_not_answered_prove_nothing(
    world: World, server: str, behaviour: Callable[..., None]
) -> None:
    engine = Engine(Resolver([server], seconds=SECONDS))
    for name in SENTINELS:
        for kind in ("A", "MX"):
            world.behaves(name, kind, behaviour)
    world.below["invalid"] = behaviour
    world.takes_mail("shop.com")
    assert reason(engine, "nowhere.de") == "domain_not_found"
    assert reason(engine, "shop.com") == "domain_accepts_mail"


@pytest.mark.parametrize(
    ("domain", "expected"),
    [
        ("nowhere.com", "dns_failure"),
        ("no-mail-server.com", "dns_failure"),
        ("no-host-named.com", "dns_failure"),
        ("unroutable-mail-server.com", "dns_failure"),
        ("no-mx-record.com", "dns_failure"),
        ("null-mx.com", "null_mx"),
        ("domain-accepts-mail.com", "domain_accepts_mail"),
        ("mailinator.com", "disposable"),
    ],
)
def test_records_from_a_resolver_that_denies_are_believed(
    engine: Engine, world: World, domain: str, expected: str
) -> None:
    script_verdicts(world)
    deny(world)
    assert not engine.resolver.trust.check(5)
    assert reason(engine, domain) == expected


@pytest.mark.parametrize(
    ("domain", "expected"),
    [
        ("domain-accepts-mail.com", "dns_failure"),
        ("null-mx.com", "dns_failure"),
        ("no-mx-record.com", "dns_failure"),
        ("no-mail-server.com", "dns_failure"),
        ("unroutable-mail-server.com", "dns_failure"),
        ("no-host-named.com", "no_mail_server"),
        ("nowhere.com", "domain_not_found"),
    ],
)
def test_denials_from_a_resolver_that_invents_are_believed(
    engine: Engine, world: World, domain: str, expected: str
) -> None:
    script_verdicts(world)
    invent(world)
    assert not engine.resolver.trust.check(5)
    assert reason(engine, domain) == expected


@pytest.mark.parametrize("kind", INVENTED)
def test_either_kind_of_record_for_an_impossible_name_is_a_lie(
    engine: Engine, world: World, kind: str
) -> None:
    world.takes_mail("shop.com")
    invent(world, **{kind: INVENTED[kind]})
    assert reason(engine, "shop.com") == "dns_failure"


def alias(query: dns.message.Message) -> dns.message.Message:
    """Without the records of the name that it leads to."""
    message = dns.message.make_response(query)
    owner = query.question[0].name
    message.answer.append(dns.rrset.from_text(owner, 60, "IN", "CNAME", "parking.example.net."))
    return message


def test_an_alias_for_an_impossible_name_is_a_lie(engine: Engine, world: World) -> None:
    world.takes_mail("shop.com")
    world.below["invalid"] = alias
    assert reason(engine, "shop.com") == "dns_failure"


def test_a_resolver_that_has_an_answer_for_every_name_is_not_believed(
    engine: Engine, world: World
) -> None:
    world.always = inventing(**INVENTED)
    assert reason(engine, "nowhere-at-all.com") == "dns_failure"


@pytest.mark.parametrize("lie", [deny, invent])
def test_verdicts_are_definite_again_when_the_lie_ends(
    engine: Engine, world: World, clock: Clock, lie: Callable[[World], None]
) -> None:
    world.has("no-mx-record.com", A="8.8.8.8")
    lie(world)
    assert reason(engine, "no-mx-record.com") == "dns_failure"
    world.existing = SENTINELS
    world.below.clear()
    assert reason(engine, "no-mx-record.com") == "dns_failure"
    clock.ahead = 11
    # The lookup that learns that the lie has ended began while it had not.
    engine.check("jane@other.com")
    assert reason(engine, "no-mx-record.com") == "no_mx_record"


def test_silence_of_a_resolver_that_lied_does_not_restore_trust(
    world: World, server: str, clock: Clock
) -> None:
    engine = Engine(Resolver([server], seconds=SECONDS, clock=clock))
    deny(world)
    assert reason(engine, "nowhere.de") == "dns_failure"
    clock.ahead = 11
    for name in SENTINELS:
        for kind in ("A", "MX"):
            world.behaves(name, kind, silence)
    assert reason(engine, "nowhere.de") == "dns_failure"


def test_what_was_learned_shortly_before_a_lie_is_found_is_dropped(
    engine: Engine, world: World, clock: Clock
) -> None:
    world.takes_mail("known.com")
    world.ttl = 3600
    engine.check("jane@known.com")
    clock.ahead = 20
    assert reason(engine, "nowhere.de") == "domain_not_found"
    clock.ahead = 21
    deny(world)
    # The sentinels were asked a second ago.
    assert reason(engine, "gmail.com") == "domain_not_found"
    clock.ahead = 31
    assert reason(engine, "elsewhere.de") == "dns_failure"
    assert reason(engine, "gmail.com") == "dns_failure"
    known = engine.check("jane@known.com")
    assert (known.reason, known.dns_cached) == ("domain_accepts_mail", True)


def test_what_was_learned_from_a_lie_is_not_remembered_after_it(
    engine: Engine, world: World, clock: Clock
) -> None:
    deny(world)
    assert reason(engine, "gmail.com") == "dns_failure"
    world.existing = SENTINELS
    world.takes_mail("gmail.com")
    clock.ahead = 10.5
    assert engine.resolver.trust.check(5)
    assert reason(engine, "gmail.com") == "domain_accepts_mail"


def test_sentinels_are_asked_at_most_every_ten_seconds(
    engine: Engine, world: World, clock: Clock
) -> None:
    with ThreadPoolExecutor(16) as pool:
        domains = [f"nowhere{number}.de" for number in range(64)]
        assert set(pool.map(lambda domain: reason(engine, domain), domains)) == {"domain_not_found"}
        assert engine.resolver.trust.check(5)
    assert world.probed.total() == 13
    clock.ahead = 11
    reason(engine, "other.de")
    assert world.probed.total() == 26


def test_concurrent_calls_wait_for_the_sentinels(engine: Engine, world: World) -> None:
    """None is answered before it is known whether the resolver lies."""
    deny(world)
    world.delay = 0.1
    with ThreadPoolExecutor(16) as pool:
        domains = [f"nowhere{number}.de" for number in range(16)]
        assert set(pool.map(lambda domain: reason(engine, domain), domains)) == {"dns_failure"}


def test_a_cached_domain_asks_no_sentinel(engine: Engine, world: World, clock: Clock) -> None:
    world.ttl = 3600
    world.takes_mail("shop.com")
    world.has("shop.com", TXT='"v=spf1 -all"')
    world.has("_dmarc.shop.com", TXT='"v=DMARC1"')
    world.has("mx.shop.com", AAAA="2606:4700::1")
    engine.check("jane@shop.com")
    sent = world.messages
    clock.ahead = 60
    assert engine.check("joe@shop.com").dns_cached is True
    assert world.messages == sent


@pytest.mark.parametrize("is_first", [True, False])
def test_one_of_several_resolvers_that_lies_is_enough(world: World, is_first: bool) -> None:
    liar = World(existing=frozenset())
    with dns_server(liar) as one, dns_server(world) as other:
        servers = [one, other] if is_first else [other, one]
        engine = Engine(Resolver(servers, seconds=10 * SECONDS))
        assert reason(engine, "nowhere.de") == "dns_failure"


def test_a_server_whose_denials_are_never_believed_does_not_cost_the_others_their_trust(
    world: World,
) -> None:
    """It neither knows the name nor asks others, and says so."""
    weak = World(always=with_code(dns.rcode.NXDOMAIN))
    with dns_server(weak) as one, dns_server(world) as other:
        engine = Engine(Resolver([one, other], seconds=10 * SECONDS))
        assert reason(engine, "nowhere.de") == "domain_not_found"


def test_servers_that_are_all_believed_as_a_last_resort_are_all_suspected() -> None:
    with (
        dns_server(World(always=with_code(dns.rcode.NXDOMAIN))) as one,
        dns_server(World(always=with_code(dns.rcode.NXDOMAIN))) as other,
    ):
        engine = Engine(Resolver([one, other], seconds=10 * SECONDS))
        assert reason(engine, "gmail.com") == "dns_failure"


def test_each_change_is_logged_once(
    engine: Engine, world: World, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    deny(world)
    for number in range(8):
        world.existing = frozenset() if number < 4 else SENTINELS
        clock.ahead = 11 * number
        reason(engine, f"nowhere{number}.de")
    lost, regained = [one for one in caplog.records if one.name.endswith(".trust")]
    assert (lost.levelname, regained.levelname) == ("ERROR", "WARNING")
    assert "denies names that exist: 127.0.0.1:" in lost.getMessage()
    assert "trusted again" in regained.getMessage()


def test_a_lie_suggests_nothing_at_sign_up(engine: Engine, world: World) -> None:
    """Domains that a resolver denies may well take mail."""
    assert engine.check_for_sign_up("jane@webb.de").did_you_mean == "jane@web.de"
    deny(world)
    assert reason(engine, "freenett.de") == "dns_failure"
    assert engine.check_for_sign_up("jane@freenett.de").did_you_mean is None
