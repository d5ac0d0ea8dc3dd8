"""Dishonest resolvers deny existing names or fabricate records.

Verdicts that depend on such replies are unknown until the resolver is honest again.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import dns.message
import dns.rcode
import pytest

from engine.check import Engine
from engine.dns.budget import SIGN_UP
from engine.dns.resolver import Resolver
from tests.engine.conftest import SECONDS
from tests.engine.dns.conftest import Clock
from tests.servers.dns import (
    PROBE_NAMES,
    Behavior,
    FakeDns,
    dns_server,
    endless_cname_chain,
    reply_with_code,
    servfail,
    silence,
    wildcard,
)

FABRICATED = {"A": "8.8.8.8", "MX": "10 mx.invented.com."}


@pytest.fixture
def engine(server: str, clock: Clock) -> Engine:
    """Use a long time limit, so that a busy machine causes no timeouts."""
    return Engine(Resolver([server], seconds=10 * SECONDS, clock=clock))


def deny(fake_dns: FakeDns, *names: str) -> None:
    fake_dns.existing_names = PROBE_NAMES.difference(names or PROBE_NAMES)


def fabricate(fake_dns: FakeDns) -> None:
    fake_dns.zone_behaviors["invalid"] = wildcard(**FABRICATED)


def get_reason(engine: Engine, domain: str) -> str:
    finding = engine.check(f"jane.doe@{domain}")
    if finding.reason == "dns_failure":
        assert (finding.verdict, finding.document()["retry_after_s"]) == ("unknown", 300)
        assert set(finding.document()["domain_auth"].values()) == {None}
    return finding.reason


def script_verdicts(fake_dns: FakeDns) -> None:
    """Add a domain for each reason, named after it."""
    fake_dns.add_mail_domain("domain-accepts-mail.com")
    fake_dns.add_records("null-mx.com", MX="0 .")
    fake_dns.add_records("no-mx-record.com", A="8.8.8.8")
    fake_dns.add_records("no-mail-server.com", MX="1 mx.nowhere.com.")
    fake_dns.add_records("no-host-named.com", TXT='"hello"')
    fake_dns.add_records("unroutable-mail-server.com", A="10.0.0.1")


@pytest.mark.parametrize(
    "denied", [["com"], ["net"], ["org"], ["gmail.com", "qq.com"], ["gmx.net", "aol.com", "org"]]
)
def test_resolver_that_denies_existing_names_is_distrusted(
    engine: Engine, fake_dns: FakeDns, denied: list[str]
) -> None:
    deny(fake_dns, *denied)
    assert get_reason(engine, "nowhere.de") == "dns_failure"


@pytest.mark.parametrize("denied", sorted(PROBE_NAMES - {"com", "net", "org"}))
def test_single_denied_name_proves_nothing(engine: Engine, fake_dns: FakeDns, denied: str) -> None:
    deny(fake_dns, denied)
    assert get_reason(engine, "nowhere.de") == "domain_not_found"
    assert fake_dns.probes.total() == 13


@pytest.mark.parametrize("behavior", [silence, servfail, dns.message.make_response])
def test_unanswered_probes_prove_nothing(
    fake_dns: FakeDns, server: str, behavior: Callable[..., None]
) -> None:
    engine = Engine(Resolver([server], seconds=SECONDS))
    for name in PROBE_NAMES:
        for record_type in ("A", "MX"):
            fake_dns.set_behavior(name, record_type, behavior)
    fake_dns.zone_behaviors["invalid"] = behavior
    fake_dns.add_mail_domain("shop.com")
    assert get_reason(engine, "nowhere.de") == "domain_not_found"
    assert get_reason(engine, "shop.com") == "domain_accepts_mail"


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
def test_records_from_a_denying_resolver_are_trusted(
    engine: Engine, fake_dns: FakeDns, domain: str, expected: str
) -> None:
    script_verdicts(fake_dns)
    deny(fake_dns)
    assert not engine.resolver.trust.check(5)
    assert get_reason(engine, domain) == expected


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
def test_denials_from_a_fabricating_resolver_are_trusted(
    engine: Engine, fake_dns: FakeDns, domain: str, expected: str
) -> None:
    script_verdicts(fake_dns)
    fabricate(fake_dns)
    assert not engine.resolver.trust.check(5)
    assert get_reason(engine, domain) == expected


@pytest.mark.parametrize(
    "behavior",
    [*(wildcard(**{kind: text}) for kind, text in FABRICATED.items()), endless_cname_chain],
    ids=[*FABRICATED, "CNAME"],
)
def test_any_record_for_a_nonexistent_name_is_fabricated(
    engine: Engine, fake_dns: FakeDns, behavior: Behavior
) -> None:
    fake_dns.add_mail_domain("shop.com")
    fake_dns.zone_behaviors["invalid"] = behavior
    assert get_reason(engine, "shop.com") == "dns_failure"


@pytest.mark.parametrize("misbehave", [deny, fabricate])
def test_verdicts_are_definite_again_once_the_resolver_is_honest(
    engine: Engine, fake_dns: FakeDns, clock: Clock, misbehave: Callable[[FakeDns], None]
) -> None:
    fake_dns.add_records("no-mx-record.com", A="8.8.8.8")
    misbehave(fake_dns)
    assert get_reason(engine, "no-mx-record.com") == "dns_failure"
    fake_dns.existing_names = PROBE_NAMES
    fake_dns.zone_behaviors.clear()
    assert get_reason(engine, "no-mx-record.com") == "dns_failure"
    clock.ahead = 11
    # This lookup detects the change, but started while the resolver was still distrusted.
    engine.check("jane@other.com")
    assert get_reason(engine, "no-mx-record.com") == "no_mx_record"


def test_silence_of_a_dishonest_resolver_does_not_restore_trust(
    fake_dns: FakeDns, server: str, clock: Clock
) -> None:
    engine = Engine(Resolver([server], seconds=SECONDS, clock=clock))
    deny(fake_dns)
    assert get_reason(engine, "nowhere.de") == "dns_failure"
    clock.ahead = 11
    for name in PROBE_NAMES:
        for record_type in ("A", "MX"):
            fake_dns.set_behavior(name, record_type, silence)
    assert get_reason(engine, "nowhere.de") == "dns_failure"


def test_replies_from_shortly_before_dishonesty_is_detected_are_dropped(
    engine: Engine, fake_dns: FakeDns, clock: Clock
) -> None:
    fake_dns.add_mail_domain("known.com")
    fake_dns.ttl = 3600
    engine.check("jane@known.com")
    clock.ahead = 20
    assert get_reason(engine, "nowhere.de") == "domain_not_found"
    clock.ahead = 21
    deny(fake_dns)
    # The last probe was a second ago.
    assert get_reason(engine, "gmail.com") == "domain_not_found"
    clock.ahead = 31
    assert get_reason(engine, "elsewhere.de") == "dns_failure"
    assert get_reason(engine, "gmail.com") == "dns_failure"
    known = engine.check("jane@known.com")
    assert (known.reason, known.dns_cached) == ("domain_accepts_mail", True)


def test_replies_from_a_dishonest_resolver_are_not_cached(
    engine: Engine, fake_dns: FakeDns, clock: Clock
) -> None:
    deny(fake_dns)
    assert get_reason(engine, "gmail.com") == "dns_failure"
    fake_dns.existing_names = PROBE_NAMES
    fake_dns.add_mail_domain("gmail.com")
    clock.ahead = 10.5
    assert engine.resolver.trust.check(5)
    assert get_reason(engine, "gmail.com") == "domain_accepts_mail"


def test_probes_are_sent_at_most_every_ten_seconds(
    engine: Engine, fake_dns: FakeDns, clock: Clock
) -> None:
    with ThreadPoolExecutor(16) as pool:
        domains = [f"nowhere{number}.de" for number in range(64)]
        assert set(pool.map(lambda domain: get_reason(engine, domain), domains)) == {
            "domain_not_found"
        }
        assert engine.resolver.trust.check(5)
    assert fake_dns.probes.total() == 13
    clock.ahead = 11
    get_reason(engine, "other.de")
    assert fake_dns.probes.total() == 26


def test_concurrent_checks_wait_for_the_probes(engine: Engine, fake_dns: FakeDns) -> None:
    """No check returns before the resolver's honesty is known."""
    deny(fake_dns)
    fake_dns.delay = 0.1
    with ThreadPoolExecutor(16) as pool:
        domains = [f"nowhere{number}.de" for number in range(16)]
        assert set(pool.map(lambda domain: get_reason(engine, domain), domains)) == {"dns_failure"}


def test_cached_domain_sends_no_probe(engine: Engine, fake_dns: FakeDns, clock: Clock) -> None:
    fake_dns.ttl = 3600
    fake_dns.add_mail_domain("shop.com")
    fake_dns.add_records("shop.com", TXT='"v=spf1 -all"')
    fake_dns.add_records("_dmarc.shop.com", TXT='"v=DMARC1"')
    fake_dns.add_records("mx.shop.com", AAAA="2606:4700::1")
    engine.check("jane@shop.com")
    sent = fake_dns.messages
    clock.ahead = 60
    assert engine.check("joe@shop.com").dns_cached is True
    assert fake_dns.messages == sent


@pytest.mark.parametrize("is_first", [True, False])
def test_one_dishonest_resolver_of_several_is_enough(fake_dns: FakeDns, is_first: bool) -> None:
    dishonest = FakeDns(existing_names=frozenset())
    with dns_server(dishonest) as one, dns_server(fake_dns) as other:
        servers = [one, other] if is_first else [other, one]
        engine = Engine(Resolver(servers, seconds=10 * SECONDS))
        assert get_reason(engine, "nowhere.de") == "dns_failure"


def test_lame_server_does_not_cost_the_others_their_trust(fake_dns: FakeDns) -> None:
    """The lame server's replies show that it is neither authoritative nor recursive."""
    lame = FakeDns(default_behavior=reply_with_code(dns.rcode.NXDOMAIN))
    with dns_server(lame) as one, dns_server(fake_dns) as other:
        engine = Engine(Resolver([one, other], seconds=10 * SECONDS))
        assert get_reason(engine, "nowhere.de") == "domain_not_found"


def test_denials_are_dishonest_when_all_servers_are_lame() -> None:
    with (
        dns_server(FakeDns(default_behavior=reply_with_code(dns.rcode.NXDOMAIN))) as one,
        dns_server(FakeDns(default_behavior=reply_with_code(dns.rcode.NXDOMAIN))) as other,
    ):
        engine = Engine(Resolver([one, other], seconds=10 * SECONDS))
        assert get_reason(engine, "gmail.com") == "dns_failure"


def test_each_change_of_trust_is_logged_once(
    engine: Engine, fake_dns: FakeDns, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    deny(fake_dns)
    for number in range(8):
        fake_dns.existing_names = frozenset() if number < 4 else PROBE_NAMES
        clock.ahead = 11 * number
        get_reason(engine, f"nowhere{number}.de")
    lost, regained = [record for record in caplog.records if record.name.endswith(".trust")]
    assert (lost.levelname, regained.levelname) == ("ERROR", "WARNING")
    assert "denies names that exist: 127.0.0.1:" in lost.getMessage()
    assert "trusted again" in regained.getMessage()


def test_dishonest_resolver_causes_no_suggestion_at_sign_up(
    engine: Engine, fake_dns: FakeDns
) -> None:
    """A domain that the resolver denies may exist, so it is not treated as a typo."""
    assert engine.check("jane@webb.de", scope=SIGN_UP).did_you_mean == "jane@web.de"
    deny(fake_dns)
    assert get_reason(engine, "gmqx.de") == "dns_failure"
    assert engine.check("jane@gmqx.de", scope=SIGN_UP).did_you_mean is None
