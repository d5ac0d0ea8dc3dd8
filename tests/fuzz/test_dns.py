"""Any bytes as an answer of the DNS, over UDP and TCP: read or refused, soon, and nobody else's."""

import ipaddress
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress

import dns.flags
import dns.message
import dns.name
import dns.rdatatype
import pytest
from hypothesis import strategies as st

from tests.fuzz.effort import explore
from tests.fuzz.verdicts import assert_consistent
from tests.servers.dns import World, packets, truncated
from validation.engine.check import Engine
from validation.engine.dns.messages import Outcome, Question, Reply, read_reply
from validation.engine.dns.policies import dmarc_of, names_senders, spf_of, spf_redirect
from validation.engine.dns.resolver import Resolver

pytestmark = pytest.mark.anywhere

# Of the processor, for one message; and for all questions of one call.
SECONDS, PATIENCE = 0.2, 0.15
QUESTION = Question("shop.com", "MX")
REAL = World()
REAL.has("shop.com", MX=["10 mx.shop.com.", "20 mx2.shop.com."], A=["8.8.4.4", "10.0.0.1"])
REAL.has("shop.com", AAAA="2001:4860::1", TXT=['"v=spf1 mx -all"', '"other"'])
REAL.has("_dmarc.shop.com", TXT='"v=DMARC1; p=reject"')
REAL.has("mx.shop.com", CNAME="real.shop.com.")
REAL.has("real.shop.com", A="8.8.4.4", AAAA="2001:4860::2")
REAL.has("mx2.shop.com", A="8.8.4.5")
NAMES = ("shop.com", "mx.shop.com", "mx2.shop.com", "_dmarc.shop.com", "nowhere.com")
KINDS = ("MX", "A", "AAAA", "TXT")


def answer_to(question: Question) -> bytes:
    return REAL.answer(dns.message.make_query(question.name, question.type).to_wire()) or b""


changes = st.lists(
    st.tuples(st.integers(0, 400), st.binary(max_size=6), st.integers(0, 4)), max_size=6
)
questions = st.builds(Question, st.sampled_from(NAMES), st.sampled_from(KINDS))
Changes = list[tuple[int, bytes, int]]


def changed(wire: bytes, changes: Changes) -> bytes:
    """Here and there so many bytes are replaced by others; what goes beyond the end cuts it."""
    for place, put, cut in changes:
        wire = wire[:place] + put + wire[place + cut :]
    return wire


def assert_sound(reply: Reply | None, kind: str) -> None:
    if reply is None:
        return
    assert len(reply.records) <= 101
    assert reply.ttl is None or 0 <= reply.ttl < 2**31
    assert (reply.outcome is Outcome.FOUND) or not reply.records
    for record in reply.records:
        if kind == "MX":
            assert 0 <= record[0] < 2**16
            assert record[1].isprintable()
        elif kind == "TXT":
            assert len(record) <= 4096
        else:
            ipaddress.ip_address(record)


def test_a_changed_message_is_read_or_refused() -> None:
    def any_change(question: Question, changes: Changes) -> None:
        assert_read_in_time(changed(answer_to(question), changes), question)

    explore(any_change, quick=80, question=questions, changes=changes)


def test_an_answer_of_any_bytes_is_read_or_refused() -> None:
    def any_bytes(question: Question, counts: bytes, rest: bytes, times: int) -> None:
        # As far as it can be told from the beginning it is the answer.
        start = answer_to(question)[: 12 + len(question.name) + 6]
        wire = (start[:6] + counts + start[12:] + rest * times)[:65_535]
        assert_read_in_time(wire, question)

    explore(
        any_bytes,
        quick=80,
        question=questions,
        counts=st.binary(min_size=6, max_size=6),
        rest=st.one_of(
            st.binary(max_size=80),
            # Names that point to names, and records of every type.
            st.lists(
                st.sampled_from([b"\xc0\x0c", b"\0\x05\0\1\0\0\0\1\0\2", b"\xc0", b"\3abc", b"\0"])
            ).map(b"".join),
        ),
        times=st.sampled_from([1, 3, 50, 5_000]),
    )


def assert_read_in_time(wire: bytes, question: Question) -> None:
    began = time.thread_time()
    reply = read_reply(wire, question)
    assert time.thread_time() - began < SECONDS
    assert_sound(reply, question.type)


def test_an_unchanged_answer_is_what_the_library_reads() -> None:
    def any_records(addresses: list[str], ttl: int) -> None:
        world = World(ttl=ttl)
        world.has("shop.com", A=addresses)
        wire = world.answer(dns.message.make_query("shop.com", "A").to_wire()) or b""
        reply = read_reply(wire, Question("shop.com", "A"))
        library = dns.message.from_wire(wire)
        if library.flags & dns.flags.TC:
            assert reply and reply.is_truncated
            return
        assert reply and (reply.outcome, reply.ttl) == (Outcome.FOUND, ttl)
        assert set(reply.records) <= {record.address for record in library.answer[0]}
        assert len(reply.records) == min(len(set(addresses)), 8)

    explore(
        any_records,
        quick=20,
        addresses=st.lists(st.ip_addresses(v=4).map(str), min_size=1, max_size=90),
        ttl=st.integers(0, 2**31 - 1),
    )


def test_any_text_is_a_policy_or_none() -> None:
    def any_policy(text: str) -> None:
        assert spf_of([text]) in {"none", "soft", "strict", "denies_all"}
        assert dmarc_of([text]) in {None, "none", "quarantine", "reject"}
        redirect = spf_redirect([text])
        if redirect is not None:
            dns.name.from_text(redirect)
        names_senders([text])

    words = [
        "v=spf1",
        "v=DMARC1",
        " ",
        ";",
        "-all",
        "~all",
        "p=reject",
        "p=",
        "redirect=",
        "=",
        "\0",
    ]
    pieces = st.one_of(st.sampled_from(words), st.text(max_size=5))
    explore(any_policy, quick=30, text=st.lists(pieces, max_size=12).map("".join))


@contextmanager
def streams(said: list[bytes]) -> Iterator[str]:
    """Over UDP it answers that the whole is told over TCP, and there these pieces."""
    world = World(always=truncated)
    with ExitStack() as opened:
        server, address = _on_one_port(opened, lambda wire: [world.answer(wire) or b""])
        thread = threading.Thread(target=_serve, args=(server, said), daemon=True)
        thread.start()
        yield address
        server.shutdown(socket.SHUT_RDWR)
        thread.join()


def _on_one_port(
    opened: ExitStack, answer: Callable[[bytes], list[bytes]]
) -> tuple[socket.socket, str]:
    """A TCP port that others took meanwhile is not free for us: another one is."""
    for _ in range(20):
        address = opened.enter_context(packets(answer))
        with suppress(OSError):
            server = socket.create_server(("127.0.0.1", int(address.rpartition(":")[2])))
            return opened.enter_context(server), address
    raise OSError("No port is free for both UDP and TCP")


def _serve(server: socket.socket, said: list[bytes]) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        with connection, suppress(OSError):
            asked = connection.recv(2_000)
            for piece in said:
                # So that also an answer that fits comes now and then.
                connection.sendall(piece.replace(b"??", asked[2:4]))


def test_whatever_a_stream_says_the_check_ends_with_a_verdict() -> None:
    whole = b"??" + answer_to(QUESTION)[2:]

    def any_stream(pieces: list[bytes], framed: bool, changes: Changes) -> None:
        message = changed(whole, changes)
        start = len(message).to_bytes(2, "big") + message if framed else message
        with streams([start, *pieces]) as address:
            _check(address)

    explore(
        any_stream,
        quick=6,
        pieces=st.lists(st.binary(min_size=1, max_size=300), max_size=3),
        framed=st.booleans(),
        changes=changes,
    )


def test_whatever_packets_come_the_check_ends_with_a_verdict() -> None:
    def any_packets(changes: Changes, times: int, kinds: set[str]) -> None:
        def behave(wire: bytes) -> list[bytes]:
            asked = dns.message.from_wire(wire).question[0]
            true = REAL.answer(wire) or b""
            is_changed = dns.rdatatype.to_text(asked.rdtype) in kinds
            return [changed(true, changes) if is_changed else true] * times

        with packets(behave) as address:
            _check(address)

    explore(
        any_packets,
        quick=10,
        changes=changes,
        times=st.sampled_from([1, 2, 40]),
        kinds=st.sets(st.sampled_from(KINDS)),
    )


def _check(address: str) -> None:
    began = time.monotonic()
    finding = Engine(Resolver([address], seconds=PATIENCE)).check("jane@shop.com")
    # What is measured is that it ends: generous, for a busy machine.
    assert time.monotonic() - began < PATIENCE + 10
    assert finding.reason != "check_failed"
    assert_consistent(finding.document())


def test_a_forged_answer_is_never_taken() -> None:
    """Before the true answer comes that of somebody who knows its number and not what was asked, or
    the other way round."""
    forged = World()
    for domain in ("shop.com", "evil.com", "shop.com.evil.com"):
        forged.has(domain, MX="1 evil.example.", A="203.0.113.66", TXT='"v=spf1 +all"')

    def any_forgery(number: int, name: str, kind: str) -> None:
        lie = forged.answer(dns.message.make_query(name, kind).to_wire()) or b""
        knows_question = (name.lower(), kind) == QUESTION

        def behave(wire: bytes) -> list[bytes]:
            own = int.from_bytes(wire[:2], "big")
            told = (own ^ number if knows_question else own).to_bytes(2, "big")
            return [told + lie[2:], REAL.answer(wire) or b""]

        with packets(behave) as address:
            resolver = Resolver([address], seconds=5)
            with resolver.inquiry(lambda one: one, time.monotonic() + 5) as inquiry:
                inquiry.ask(QUESTION)
                inquiry.wait([QUESTION])
        assert inquiry.answers[QUESTION].records == ((10, "mx.shop.com"), (20, "mx2.shop.com"))

    explore(
        any_forgery,
        quick=12,
        number=st.integers(1, 65_535),
        name=st.sampled_from(["shop.com", "SHOP.com", "evil.com", "shop.com.evil.com"]),
        kind=st.sampled_from(["MX", "A", "TXT"]),
    )
