"""What mail servers are asked, and what their answers become."""

import socket
from collections.abc import Iterator

import pytest

from engine.smtp.session import MailboxQuestion
from engine.smtp.wire import SmtpOutcome, Unsendable
from tests.engine.smtp.asking import EHLO_NAME, PATIENT, SENDER, ask, converse, probe
from tests.servers.smtp_server import (
    DROP,
    MAILBOXES,
    SILENCE,
    UNKNOWN,
    Script,
    SmtpHost,
    SmtpServer,
    one_byte_at_a_time,
    only_first_recipient,
    smtp_server,
    without_end,
)

HARMLESS = {"EHLO", "HELO", "STARTTLS", "MAIL", "RCPT", "QUIT"}
TLS = ("STARTTLS", "SMTPUTF8")


@pytest.fixture
def server() -> Iterator[SmtpServer]:
    """Set `server.hosts["127.0.0.1"]` to change what the host does."""
    with smtp_server() as server:
        yield server
    # Never DATA, VRFY or EXPN.
    assert set(server.verbs) <= HARMLESS


def test_conversation_is_encrypted_and_sends_nothing_but_the_envelope(server: SmtpServer) -> None:
    server.hosts["127.0.0.1"] = SmtpHost(extensions=TLS)
    conversation = ask(server)
    assert [(command.line, command.is_encrypted) for command in list(server.commands)[:5]] == [
        (f"EHLO {EHLO_NAME}", False),
        ("STARTTLS", False),
        (f"EHLO {EHLO_NAME}", True),
        (f"MAIL FROM:<{SENDER}>", True),
        ("RCPT TO:<jane@shop.example>", True),
    ]
    assert [(step.stage, step.is_encrypted) for step in conversation.steps] == [
        ("connect", False),
        ("ehlo", False),
        ("starttls", False),
        ("ehlo", True),
        ("mail", True),
        ("rcpt", True),
    ]
    assert conversation.outcome == SmtpOutcome.REPLIED
    assert conversation.is_encrypted
    assert conversation.extensions == {"SMTPUTF8"}
    assert conversation.steps[1].reply.startswith(b"250-mx.shop.example\n250-STARTTLS\n250 ")


REPLIES = {
    **{name: script.encode() for name, script in MAILBOXES.items() if isinstance(script, str)},
    "missing": UNKNOWN.encode(),
    "shutdown": b"421 4.3.2 Closing",
    "multi-line": b"550-5.1.1 The account\n550 5.1.1 doesn't exist",
    "two-codes": b"250-Fine\n550 5.1.1 User unknown",
    "control-characters": b"550 5.1.1 \x00\x1b[31mred\x1b[0m\rforged\xff",
    "bare-lf": b"550 5.1.1 User unknown",
    "no-code": b"\xff\xfe nonsense",
}


@pytest.mark.parametrize("extensions", [(), TLS])
def test_replies_to_a_recipient_are_returned_as_bytes(
    server: SmtpServer, extensions: tuple[str, ...]
) -> None:
    server.hosts["127.0.0.1"] = SmtpHost(extensions=extensions)
    for local_part, reply in REPLIES.items():
        conversation = ask(server, local_part)
        assert conversation.recipient_replies == [conversation.reply] == [reply], local_part
        assert (conversation.outcome, conversation.stage) == (SmtpOutcome.REPLIED, "rcpt"), (
            local_part
        )


@pytest.mark.parametrize("extensions", [(), TLS])
@pytest.mark.parametrize(
    ("local_part", "outcome"),
    [
        ("drop", SmtpOutcome.DROPPED),
        ("huge", SmtpOutcome.TOO_LONG),
        ("without-end", SmtpOutcome.TOO_LONG),
        ("two-replies", SmtpOutcome.UNCLEAR),
    ],
)
def test_no_single_reply_to_a_recipient_is_no_reply(
    server: SmtpServer, local_part: str, outcome: SmtpOutcome, extensions: tuple[str, ...]
) -> None:
    server.hosts["127.0.0.1"] = SmtpHost(extensions=extensions)
    conversation = ask(server, local_part)
    assert (conversation.outcome, conversation.stage) == (outcome, "rcpt")
    assert conversation.recipient_replies == []


def test_silent_server_times_out(server: SmtpServer) -> None:
    conversation = ask(server, "silence", impatient_after=b"RCPT")
    assert (conversation.outcome, conversation.stage) == (SmtpOutcome.TIMED_OUT, "rcpt")


def test_bytes_that_trickle_do_not_extend_a_deadline(server: SmtpServer) -> None:
    line = f"250 2.1.5 {'x' * 200}"
    server.hosts["127.0.0.1"] = SmtpHost(
        mailboxes={"slow": one_byte_at_a_time(line, 0.05), "steady": one_byte_at_a_time(line, 0)}
    )
    assert ask(server, "slow", impatient_after=b"RCPT").outcome == SmtpOutcome.TIMED_OUT
    assert ask(server, "steady").reply == line.encode()


def test_deadline_of_the_probe_covers_all_commands(server: SmtpServer) -> None:
    """Each reply comes within its own limit."""
    slow = (0.3, b"250 2.0.0 Slow\r\n")
    server.hosts["127.0.0.1"] = SmtpHost(
        banner=(0.3, b"220 Slow\r\n"), ehlo=slow, mail=slow, other=slow
    )
    conversation = ask(server, limits=PATIENT._replace(probe=0.5))
    assert conversation.outcome == SmtpOutcome.TIMED_OUT
    assert conversation.stage in {"connect", "ehlo"}


REPLIED, DROPPED, TIMED_OUT = SmtpOutcome.REPLIED, SmtpOutcome.DROPPED, SmtpOutcome.TIMED_OUT
TOO_LONG, UNCLEAR = SmtpOutcome.TOO_LONG, SmtpOutcome.UNCLEAR


@pytest.mark.parametrize(
    ("host", "stage", "outcome", "reply"),
    [
        (SmtpHost(banner=DROP), "connect", DROPPED, b""),
        (SmtpHost(banner=SILENCE), "connect", TIMED_OUT, b""),
        # Below the limit, as 9 s are.
        (SmtpHost(banner=(0.1, b"220 Slow\r\n")), "rcpt", REPLIED, b"250 2.1.5 OK"),
        (SmtpHost(banner="554 5.7.1 Blocked"), "connect", REPLIED, b"554 5.7.1 Blocked"),
        (SmtpHost(banner="521 No mail"), "connect", REPLIED, b"521 No mail"),
        (SmtpHost(banner=b"220-Hi\r\n420 Hm\r\n"), "connect", REPLIED, b"220-Hi\n420 Hm"),
        (SmtpHost(banner=without_end("220-Hi")), "connect", TOO_LONG, b""),
        (SmtpHost(banner=(b"220 Hi\r\n", None)), "ehlo", DROPPED, b"220 Hi"),
        (SmtpHost(banner=b"220 Hi\r\n250 Early\r\n"), "connect", UNCLEAR, b""),
        (SmtpHost(ehlo="521 No mail"), "ehlo", REPLIED, b"521 No mail"),
        (SmtpHost(ehlo="421 4.7.0 Busy"), "ehlo", REPLIED, b"421 4.7.0 Busy"),
        (SmtpHost(ehlo=(b"554 No\r\n", None)), "ehlo", REPLIED, b"554 No"),
        (SmtpHost(ehlo="502 No", helo="504 No"), "ehlo", REPLIED, b"504 No"),
        (SmtpHost(ehlo="502 No"), "rcpt", REPLIED, b"250 2.1.5 OK"),
        (SmtpHost(mail="550 5.7.1 No"), "mail", REPLIED, b"550 5.7.1 No"),
        (SmtpHost(mail=SILENCE), "mail", TIMED_OUT, b"250"),
        (SmtpHost(mail=(b"421 4.7.0 Bye\r\n", None)), "mail", REPLIED, b"421 4.7.0 Bye"),
    ],
)
def test_conversation_ends_where_the_server_ends_it(
    server: SmtpServer, host: SmtpHost, stage: str, outcome: SmtpOutcome, reply: bytes
) -> None:
    server.hosts["127.0.0.1"] = host
    limits = PATIENT._replace(banner=0.2) if host.banner == SILENCE else PATIENT
    is_silent = host.mail == SILENCE
    conversation = ask(server, limits=limits, impatient_after=b"MAIL" if is_silent else b"nothing")
    assert (conversation.outcome, conversation.stage) == (outcome, stage)
    assert conversation.reply.startswith(reply)


@pytest.mark.parametrize(
    ("impatient_after", "starttls", "instead_of_tls"),
    [
        (b"nothing", "454 4.7.0 Not now", None),
        (b"nothing", "501 5.5.4 No", None),
        (b"nothing", DROP, None),
        (b"STARTTLS", SILENCE, None),
        (b"nothing", b"220 Go\r\n250 Injected\r\n", None),
        (b"nothing", "220 Go", b"250 Injected\r\n"),
        (b"nothing", "220 Go", DROP),
        # A ClientHello.
        (b"\x16\x03\x01", "220 Go", b"\x16\x03\x03\x40\x00" + bytes(5000)),
        (b"\x16\x03\x01", "220 Go", SILENCE),
        (b"\x16\x03\x01", "220 Go", one_byte_at_a_time("\x16\x03\x03 " * 100, 0.05)),
    ],
)
def test_failed_tls_is_followed_by_one_conversation_in_clear(
    server: SmtpServer, impatient_after: bytes, starttls: Script, instead_of_tls: Script | None
) -> None:
    server.hosts["127.0.0.1"] = SmtpHost(
        extensions=TLS, starttls=starttls, instead_of_tls=instead_of_tls
    )
    answer = probe(server, impatient_after=impatient_after)
    assert answer.conversation.outcome == SmtpOutcome.REPLIED
    assert answer.conversation.reply == b"250 2.1.5 OK"
    assert not answer.conversation.is_encrypted
    assert server.connections["127.0.0.1"] == 2
    assert server.lines().count("STARTTLS") == 1
    assert not any(b"Injected" in step.reply for step in answer.conversation.steps)


def test_busy_server_is_not_asked_in_clear(server: SmtpServer) -> None:
    server.hosts["127.0.0.1"] = SmtpHost(extensions=TLS, starttls="421 4.7.0 Too busy")
    conversation = probe(server).conversation
    assert (conversation.outcome, conversation.stage) == (SmtpOutcome.REPLIED, "starttls")
    assert server.connections["127.0.0.1"] == 1


def test_address_beyond_ascii_needs_smtputf8(server: SmtpServer) -> None:
    conversation = ask(server, "jané")
    assert conversation.reply == UNKNOWN.encode()
    assert f"MAIL FROM:<{SENDER}> SMTPUTF8" in server.lines()
    assert "RCPT TO:<jané@shop.example>" in server.lines()
    server.hosts["127.0.0.1"] = SmtpHost(extensions=())
    server.commands.clear()
    conversation = ask(server, "jané")
    assert conversation.outcome == SmtpOutcome.NO_SMTPUTF8
    assert not any(line.startswith(("MAIL", "RCPT")) for line in server.lines())


def test_second_recipient_is_asked_if_the_first_reply_requires_it(server: SmtpServer) -> None:
    def postmaster(reply: bytes) -> str | None:
        return "postmaster@shop.example" if reply.startswith(b"550") else None

    asked = ask(server, "unknown", next_recipient=postmaster)
    assert asked.recipient_replies == [UNKNOWN.encode(), b"250 2.1.5 OK"]
    assert ask(server, next_recipient=postmaster).recipient_replies == [b"250 2.1.5 OK"]
    # After 421 the server closes the connection.
    asked = ask(server, "shutdown", next_recipient=lambda reply: "postmaster@shop.example")
    assert (asked.outcome, asked.reply) == (SmtpOutcome.REPLIED, b"421 4.3.2 Closing")
    server.hosts["127.0.0.1"] = SmtpHost(
        mailboxes={"postmaster": only_first_recipient()}, other=only_first_recipient(UNKNOWN)
    )
    asked = ask(server, "unknown", next_recipient=postmaster)
    assert asked.recipient_replies == [UNKNOWN.encode(), b"452 4.5.3 Too many recipients"]
    server.hosts["127.0.0.1"] = SmtpHost(mailboxes={"postmaster": DROP})
    asked = ask(server, "unknown", next_recipient=postmaster)
    assert (asked.outcome, asked.recipient_replies) == (SmtpOutcome.DROPPED, [UNKNOWN.encode()])


@pytest.mark.parametrize(
    ("ehlo_name", "sender", "recipient"),
    [
        ("probe.example\r\nDATA", SENDER, "jane@shop.example"),
        ("", SENDER, "jane@shop.example"),
        (EHLO_NAME, "probe", "jane@shop.example"),
        *(
            (EHLO_NAME, SENDER, recipient)
            for recipient in (
                *("jane@shop.example\r\nDATA", "jane\r\n@shop.example", "jane\x00@shop.example"),
                *("ja ne@shop.example", '"ja ne"@shop.example', "jane>@shop.example"),
                *("jane@[127.0.0.1]", f"{'j' * 600}@shop.example", ""),
            )
        ),
    ],
)
def test_nothing_is_sent_for_what_cannot_be_part_of_a_command(
    ehlo_name: str, sender: str, recipient: str
) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        with pytest.raises(Unsendable):
            converse(ours, MailboxQuestion(ehlo_name, sender, recipient))
        ours.close()
        assert theirs.recv(1000) == b""
