"""Arbitrary bytes as DNS replies over UDP and TCP are parsed or refused quickly."""

import ipaddress
import time

import dns.flags
import dns.message
import dns.name
import dns.rdatatype
from hypothesis import strategies as st

from engine.check import Engine
from engine.dns.dmarc import find_inherited_policy, parse_dmarc
from engine.dns.messages import Outcome, ParsedReply, Query, parse_reply
from engine.dns.resolver import Resolver
from engine.dns.spf import classify_spf, find_spf_redirect, lists_senders
from tests.fuzz.exploration import explore
from tests.fuzz.verdicts import assert_consistent
from tests.servers.dns import FakeDns, packet_server

# CPU time for one message, and the resolver's time limit for one check.
SECONDS, TIME_LIMIT = 0.2, 0.15
QUERY = Query("shop.com", "MX")
REAL = FakeDns()
REAL.add_records("shop.com", MX=["10 mx.shop.com.", "20 mx2.shop.com."], A=["8.8.4.4", "10.0.0.1"])
REAL.add_records("shop.com", AAAA="2001:4860::1", TXT=['"v=spf1 mx -all"', '"other"'])
REAL.add_records("_dmarc.shop.com", TXT='"v=DMARC1; p=reject"')
REAL.add_records("mx.shop.com", CNAME="real.shop.com.")
REAL.add_records("real.shop.com", A="8.8.4.4", AAAA="2001:4860::2")
REAL.add_records("mx2.shop.com", A="8.8.4.5")
NAMES = ("shop.com", "mx.shop.com", "mx2.shop.com", "_dmarc.shop.com", "nowhere.com")
RECORD_TYPES = ("MX", "A", "AAAA", "TXT")


def real_reply(query: Query) -> bytes:
    return REAL.answer(dns.message.make_query(query.name, query.type).to_wire()) or b""


changes = st.lists(
    st.tuples(st.integers(0, 400), st.binary(max_size=6), st.integers(0, 4)), max_size=6
)
queries = st.builds(Query, st.sampled_from(NAMES), st.sampled_from(RECORD_TYPES))
Changes = list[tuple[int, bytes, int]]


def apply_changes(wire: bytes, changes: Changes) -> bytes:
    """Replace bytes at several positions. Changes near the end shorten the message."""
    for position, inserted, removed in changes:
        wire = wire[:position] + inserted + wire[position + removed :]
    return wire


def assert_valid(reply: ParsedReply | None, record_type: str) -> None:
    if reply is None:
        return
    assert len(reply.records) <= 101
    assert reply.ttl is None or 0 <= reply.ttl < 2**31
    assert (reply.outcome is Outcome.FOUND) or not reply.records
    for record in reply.records:
        if record_type == "MX":
            assert 0 <= record[0] < 2**16
            assert record[1].isprintable()
        elif record_type == "TXT":
            assert len(record) <= 4096
        else:
            ipaddress.ip_address(record)


def test_modified_reply_is_parsed_or_refused() -> None:
    def any_change(query: Query, changes: Changes) -> None:
        assert_parsed_in_time(apply_changes(real_reply(query), changes), query)

    explore(any_change, quick=80, query=queries, changes=changes)


def test_arbitrary_bytes_are_parsed_or_refused() -> None:
    def any_bytes(query: Query, counts: bytes, rest: bytes, times: int) -> None:
        # The header and question match, so the parser can't refuse the packet early.
        start = real_reply(query)[: 12 + len(query.name) + 6]
        wire = (start[:6] + counts + start[12:] + rest * times)[:65_535]
        assert_parsed_in_time(wire, query)

    explore(
        any_bytes,
        quick=80,
        query=queries,
        counts=st.binary(min_size=6, max_size=6),
        rest=st.one_of(
            st.binary(max_size=80),
            # Compression pointers and record headers.
            st.lists(
                st.sampled_from([b"\xc0\x0c", b"\0\x05\0\1\0\0\0\1\0\2", b"\xc0", b"\3abc", b"\0"])
            ).map(b"".join),
        ),
        times=st.sampled_from([1, 3, 50, 5_000]),
    )


def assert_parsed_in_time(wire: bytes, query: Query) -> None:
    started = time.thread_time()
    reply = parse_reply(wire, query)
    assert time.thread_time() - started < SECONDS
    assert_valid(reply, query.type)


def test_arbitrary_text_is_a_policy_or_none() -> None:
    def any_policy(text: str) -> None:
        assert classify_spf([text]) in {"none", "soft", "strict", "denies_all"}
        record = parse_dmarc([text])
        if record is not None:
            inherited = find_inherited_policy([("com", record)], exists=False)
            assert {record.own, inherited} <= {"none", "quarantine", "reject"}
        redirect = find_spf_redirect([text])
        if redirect is not None:
            dns.name.from_text(redirect)
        lists_senders([text])

    words = [
        *("v=spf1", "v=DMARC1", " ", ";", "-all", "~all", "p=reject", "p=", "redirect=", "=", "\0")
    ]
    pieces = st.one_of(st.sampled_from(words), st.text(max_size=5))
    explore(any_policy, quick=30, text=st.lists(pieces, max_size=12).map("".join))


def test_check_ends_with_a_verdict_for_any_packets() -> None:
    def any_packets(changes: Changes, times: int, record_types: set[str]) -> None:
        def behave(wire: bytes) -> list[bytes]:
            question = dns.message.from_wire(wire).question[0]
            real = REAL.answer(wire) or b""
            is_changed = dns.rdatatype.to_text(question.rdtype) in record_types
            return [apply_changes(real, changes) if is_changed else real] * times

        with packet_server(behave) as address:
            _check(address)

    explore(
        any_packets,
        quick=10,
        changes=changes,
        times=st.sampled_from([1, 2, 40]),
        record_types=st.sets(st.sampled_from(RECORD_TYPES)),
    )


def _check(address: str) -> None:
    started = time.monotonic()
    finding = Engine(Resolver([address], seconds=TIME_LIMIT)).check("jane@shop.com")
    # Only shows that the check ends, so it is generous to a busy machine.
    assert time.monotonic() - started < TIME_LIMIT + 10
    assert finding.reason != "check_failed"
    assert_consistent(finding.document())
