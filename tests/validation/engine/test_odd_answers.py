"""An answer that is wrong, cut, of another or none: it ends in time, and in no lie."""

from collections.abc import Callable

import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset
import pytest

from tests.servers.dns import World, packets, refused, servfail, silence, truncated, with_code
from tests.validation.engine.conftest import SECONDS, reason_of
from validation.engine.check import Engine
from validation.engine.dns.resolver import Resolver

pytestmark = pytest.mark.anywhere


def referral(query: dns.message.Message) -> dns.message.Message:
    message = dns.message.make_response(query)
    message.authority.append(dns.rrset.from_text("com.", 60, "IN", "NS", "a.gtld-servers.net."))
    return message


def contradiction(query: dns.message.Message) -> dns.message.Message:
    message = dns.message.make_response(query)
    message.set_rcode(dns.rcode.NXDOMAIN)
    message.answer.append(dns.rrset.from_text("shop.com.", 60, "IN", "MX", "1 mx.shop.com."))
    return message


def of_another_name(query: dns.message.Message) -> dns.message.Message:
    message = dns.message.make_response(query)
    message.question[0] = dns.rrset.from_text("evil.com.", 0, "IN", "MX")
    message.answer.append(dns.rrset.from_text("shop.com.", 60, "IN", "MX", "0 ."))
    return message


def with_records_nobody_asked_for(query: dns.message.Message) -> dns.message.Message:
    message = dns.message.make_response(query)
    message.answer.append(dns.rrset.from_text("other.com.", 60, "IN", "MX", "0 ."))
    message.answer.append(dns.rrset.from_text("shop.com.", 60, "IN", "MX", "1 mx.shop.com."))
    message.additional.append(dns.rrset.from_text("mx.shop.com.", 60, "IN", "A", "10.0.0.1"))
    return message


def with_another_identifier(query: dns.message.Message) -> bytes:
    wire = bytearray(dns.message.make_response(query).to_wire())
    wire[0] ^= 0xFF
    return bytes(wire)


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        (servfail, "dns_failure"),
        (refused, "dns_failure"),
        (with_code(dns.rcode.NOTIMP), "dns_failure"),
        (with_code(dns.rcode.FORMERR), "dns_failure"),
        (with_code(dns.rcode.YXDOMAIN), "dns_failure"),
        (with_code(dns.rcode.BADVERS), "dns_failure"),
        (referral, "dns_failure"),
        (contradiction, "dns_failure"),
        (silence, "dns_timeout"),
        (of_another_name, "dns_timeout"),
        (with_another_identifier, "dns_timeout"),
        (lambda query: b"", "dns_timeout"),
        (lambda query: b"\0" * 40, "dns_timeout"),
        (lambda query: query.to_wire(), "dns_timeout"),
        (lambda query: query.to_wire()[:2] + b"\x80\0" + b"\xff" * 600, "dns_timeout"),
        (truncated, "domain_accepts_mail"),
        (with_records_nobody_asked_for, "domain_accepts_mail"),
    ],
)
def test_an_answer_that_is_none_is_unknown(
    engine: Engine, world: World, behaviour: Callable[..., bytes], reason: str
) -> None:
    world.takes_mail("shop.com")
    world.behaves("shop.com", "MX", behaviour)
    assert reason_of(engine) == reason


def test_an_unknown_says_when_to_ask_again(engine: Engine, world: World) -> None:
    for name, behaviour, seconds in (("a.com", silence, 60), ("b.com", servfail, 300)):
        world.behaves(name, "MX", behaviour)
        document = engine.check(f"info@{name}").document()
        assert (document["retry_after_s"], document["score"]) == (seconds, None)
        assert (document["safe_to_send"], document["accept_for_signup"]) == (None, True)
        assert document["checks"]["role_account"] is True


def test_only_the_list_of_throw_away_domains_decides_when_the_dns_fails(
    engine: Engine, world: World
) -> None:
    world.behaves("mailinator.com", "MX", servfail)
    finding = engine.check("info@mailinator.com")
    assert finding.reasons == ("disposable", "role_account")


def test_broken_data_in_an_answer_are_a_failure(engine: Engine, world: World) -> None:
    def cut(query: dns.message.Message) -> bytes:
        return world.told(query, "shop.com", "MX").to_wire()[:-4]

    world.takes_mail("shop.com")
    world.behaves("shop.com", "MX", cut)
    assert reason_of(engine) == "dns_failure"


def test_an_old_server_is_asked_without_options(engine: Engine, world: World) -> None:
    def read_old(query: dns.message.Message) -> dns.message.Message:
        if query.edns >= 0:
            return with_code(dns.rcode.FORMERR)(query)  # type: ignore[return-value]
        name = query.question[0].name.to_text(omit_final_dot=True)
        return world.told(query, name, dns.rdatatype.to_text(query.question[0].rdtype))

    world.takes_mail("shop.com")
    world.always = read_old
    assert reason_of(engine) == "domain_accepts_mail"
    with packets(lambda wire: [world.answer(wire) or b""] * 2) as twice:
        assert reason_of(Engine(Resolver([twice], seconds=SECONDS))) == "domain_accepts_mail"


def test_case_does_not_matter_in_what_a_server_repeats(engine: Engine, world: World) -> None:
    def shout(query: dns.message.Message) -> bytes:
        wire = world.told(query, "shop.com", "MX").to_wire()
        return wire.replace(b"\x04shop\x03com", b"\x04SHOP\x03COM", 1)

    world.takes_mail("shop.com")
    world.behaves("shop.com", "MX", shout)
    assert reason_of(engine) == "domain_accepts_mail"


def test_negative_answers_need_no_soa_record(engine: Engine, world: World) -> None:
    world.has_soa = False
    world.has("shop.com", A="8.8.8.8")
    assert reason_of(engine) == "no_mx_record"
    assert reason_of(engine, "jane@nowhere.com") == "domain_not_found"
