"""No bytes raise an exception, and none are taken for more than they are."""

import socket
import threading
from contextlib import suppress
from itertools import chain, repeat

from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.smtp.session import Conversation
from engine.smtp.wire import SmtpOutcome
from tests.engine.smtp.asking import PATIENT, converse

FINE = [b"220 Hi\r\n", b"250-Hi\r\n250 SMTPUTF8\r\n", b"250 OK\r\n"]
ANY_REPLY = st.one_of(
    st.binary(max_size=200),
    st.binary(max_size=80).map(lambda text: b"250 " + text + b"\r\n"),
    st.binary(max_size=80).map(lambda text: b"250-" + text + b"\n220 STARTTLS\n"),
    st.lists(st.sampled_from([b"250", b"550", b"-", b" ", b"\r", b"\n", b"\0", b"\xff", b"x"])).map(
        b"".join
    ),
)


def answer_with(replies: list[bytes], patience: float = 30) -> Conversation:
    """Send a reply after connecting and after each command, or if none arrives for a while."""
    ours, theirs = socket.socketpair()

    def serve() -> None:
        with theirs, suppress(OSError):
            theirs.sendall(replies[0])
            theirs.settimeout(patience)
            for reply in replies[1:]:
                with suppress(TimeoutError):
                    theirs.recv(10_000)
                theirs.sendall(reply)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        with ours:
            return converse(ours)
    finally:
        thread.join()


@settings(max_examples=150, deadline=None)
@given(count=st.integers(0, 3), replies=st.lists(ANY_REPLY, min_size=1, max_size=6))
@example(count=1, replies=[b"250-STARTTLS\r\n250 \r\n", b"220 Go\r\n", b"\x16\x03\x03\x00\x02\x02"])
@example(count=0, replies=[b"\xb2\xb3\xb9 superscript digits\r\n"])
@example(count=1, replies=[b"250-\r\n250-  \r\n250 \xff\r\n"])
def test_any_bytes_end_in_an_outcome(count: int, replies: list[bytes]) -> None:
    conversation = answer_with(FINE[:count] + replies, patience=0.01)
    assert conversation.stage in {"connect", "ehlo", "starttls", "mail", "rcpt"}
    if conversation.outcome == SmtpOutcome.REPLIED:
        assert conversation.steps
    for step in conversation.steps:
        assert step.reply.count(b"\n") < PATIENT.reply_lines
        assert len(step.reply) < PATIENT.reply_bytes


def test_longest_reply_is_read_and_a_longer_one_is_not() -> None:
    lines = PATIENT.reply_lines
    longest = b"550-x\r\n" * (lines - 1) + b"550 x\r\n"
    assert answer_with([*FINE, longest]).reply.count(b"\n") == lines - 1
    for too_long in (
        b"550-x\r\n" + longest,
        b"550 " + b"x" * PATIENT.reply_bytes + b"\r\n",
        (b"550-" + b"x" * (PATIENT.reply_bytes // 40) + b"\r\n") * 45 + b"550 x\r\n",
        b"x" * (PATIENT.reply_bytes + 1),
    ):
        assert answer_with([*FINE, too_long]).outcome == SmtpOutcome.TOO_LONG


def test_bytes_before_a_command_are_no_reply_to_it() -> None:
    """Each packet is received separately."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        for packet in (b"220 Hi\r\n", b"250 Early\r\n"):
            theirs.sendall(packet)
        conversation = converse(ours)
        assert (conversation.outcome, conversation.stage) == (SmtpOutcome.UNCLEAR, "ehlo")
        assert theirs.recv(1000) == b"QUIT\r\n"


def test_time_limits_are_measured_by_the_clock() -> None:
    """Each look at the clock takes a second, so that the replies come in time one by one only."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(b"220 Hi\r\n")
        seconds = chain(range(50), repeat(50))
        limits = PATIENT._replace(banner=3, command=3, probe=100)
        conversation = converse(ours, limits=limits, clock=lambda: float(next(seconds)))
    assert (conversation.outcome, conversation.stage) == (SmtpOutcome.TIMED_OUT, "ehlo")
