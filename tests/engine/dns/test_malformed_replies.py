"""Malformed, cut-off and mismatched replies end in time and give no wrong verdict."""

from collections.abc import Callable

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset
import pytest

from engine.check import Engine
from tests.engine.conftest import get_reason
from tests.servers.dns import FakeDns, refused, reply_with_code, servfail, silence, truncated


def referral(query: dns.message.Message) -> dns.message.Message:
    message = dns.message.make_response(query)
    message.authority.append(dns.rrset.from_text("com.", 60, "IN", "NS", "a.gtld-servers.net."))
    return message


def contradiction(query: dns.message.Message) -> dns.message.Message:
    message = dns.message.make_response(query)
    message.set_rcode(dns.rcode.NXDOMAIN)
    message.answer.append(dns.rrset.from_text("shop.com.", 60, "IN", "MX", "1 mx.shop.com."))
    return message


def with_unrelated_records(query: dns.message.Message) -> dns.message.Message:
    message = dns.message.make_response(query)
    message.answer.append(dns.rrset.from_text("other.com.", 60, "IN", "MX", "0 ."))
    message.answer.append(dns.rrset.from_text("shop.com.", 60, "IN", "MX", "1 mx.shop.com."))
    message.additional.append(dns.rrset.from_text("mx.shop.com.", 60, "IN", "A", "10.0.0.1"))
    return message


def with_foreign_records(query: dns.message.Message) -> dns.message.Message:
    message = dns.message.make_response(query)
    message.flags |= dns.flags.RA
    message.answer.append(dns.rrset.from_text("other.com.", 60, "IN", "MX", "1 mx.other.com."))
    message.answer.append(dns.rrset.from_text("alias.com.", 60, "IN", "CNAME", "shop.com."))
    message.authority.append(dns.rrset.from_text("com.", 60, "IN", "SOA", "a. b. 1 2 3 4 60"))
    return message


def with_foreign_records_and_nxdomain(query: dns.message.Message) -> dns.message.Message:
    message = with_foreign_records(query)
    message.set_rcode(dns.rcode.NXDOMAIN)
    return message


def with_record_of_another_type(query: dns.message.Message) -> dns.message.Message:
    message = with_foreign_records(query)
    message.answer.append(dns.rrset.from_text("SHOP.com.", 60, "IN", "TXT", '"hello"'))
    return message


@pytest.mark.parametrize(
    ("behavior", "reason"),
    [
        (servfail, "dns_failure"),
        (refused, "dns_failure"),
        (reply_with_code(dns.rcode.NOTIMP), "dns_failure"),
        (reply_with_code(dns.rcode.FORMERR), "dns_failure"),
        (reply_with_code(dns.rcode.YXDOMAIN), "dns_failure"),
        (reply_with_code(dns.rcode.BADVERS), "dns_failure"),
        (referral, "dns_failure"),
        (contradiction, "dns_failure"),
        (with_foreign_records, "dns_failure"),
        (with_foreign_records_and_nxdomain, "dns_failure"),
        (with_record_of_another_type, "no_mail_server"),
        (silence, "dns_timeout"),
        (lambda query: b"", "dns_timeout"),
        (lambda query: b"\0" * 40, "dns_timeout"),
        (lambda query: query.to_wire(), "dns_timeout"),
        (lambda query: query.to_wire()[:2] + b"\x80\0" + b"\xff" * 600, "dns_timeout"),
        (truncated, "domain_accepts_mail"),
        (with_unrelated_records, "domain_accepts_mail"),
    ],
)
def test_odd_reply_gives_the_expected_reason(
    engine: Engine, fake_dns: FakeDns, behavior: Callable[..., bytes], reason: str
) -> None:
    fake_dns.add_mail_domain("shop.com")
    fake_dns.set_behavior("shop.com", "MX", behavior)
    assert get_reason(engine) == reason


def test_unknown_result_says_when_to_retry(engine: Engine, fake_dns: FakeDns) -> None:
    for name, behavior, seconds in (("a.com", silence, 60), ("b.com", servfail, 300)):
        fake_dns.set_behavior(name, "MX", behavior)
        document = engine.check(f"info@{name}").document()
        assert (document["retry_after_s"], document["score"]) == (seconds, None)
        assert (document["safe_to_send"], document["accept_for_signup"]) == (None, True)
        assert document["checks"]["role_account"] is True


def test_disposable_domain_gets_a_verdict_when_the_dns_fails(
    engine: Engine, fake_dns: FakeDns
) -> None:
    fake_dns.set_behavior("mailinator.com", "MX", servfail)
    finding = engine.check("info@mailinator.com")
    assert finding.reasons == ("disposable", "role_account")


def test_reply_with_cut_off_data_is_a_failure(engine: Engine, fake_dns: FakeDns) -> None:
    def cut_off(query: dns.message.Message) -> bytes:
        return fake_dns.build_reply(query, "shop.com", "MX").to_wire()[:-4]

    fake_dns.add_mail_domain("shop.com")
    fake_dns.set_behavior("shop.com", "MX", cut_off)
    assert get_reason(engine) == "dns_failure"


def test_echoed_question_is_compared_case_insensitively(engine: Engine, fake_dns: FakeDns) -> None:
    def echo_in_upper_case(query: dns.message.Message) -> bytes:
        wire = fake_dns.build_reply(query, "shop.com", "MX").to_wire()
        return wire.replace(b"\x04shop\x03com", b"\x04SHOP\x03COM", 1)

    fake_dns.add_mail_domain("shop.com")
    fake_dns.set_behavior("shop.com", "MX", echo_in_upper_case)
    assert get_reason(engine) == "domain_accepts_mail"


def test_negative_replies_need_no_soa_record(engine: Engine, fake_dns: FakeDns) -> None:
    fake_dns.has_soa = False
    fake_dns.add_records("shop.com", A="8.8.8.8")
    assert get_reason(engine) == "no_mx_record"
    assert get_reason(engine, "jane@nowhere.com") == "domain_not_found"
