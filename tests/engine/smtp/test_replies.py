"""What replies say: the table in replies.tsv, and what no text may change."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.smtp.replies import DEFINITE, ReplyClass, classify
from engine.smtp.reply_text import redact
from tests.engine.tables import read_table

STAGES = ("connect", "ehlo", "starttls", "mail", "rcpt", "unknown")
REPLIES = [
    (expected, None if provider == "-" else provider, reply.replace(r"\n", "\n"))
    for expected, provider, reply in read_table("smtp/replies.tsv")
]
# Microsoft 365's refusal is known by its whole text.
GONE = [reply for expected, provider, reply in REPLIES if (expected, provider) == ("gone", None)]
# One for each line of the word groups that contradict.
CONTRARY_WORDS = {
    "us": [
        *("blocked", "black list", "spamhaus", "listed by", "banned", "spam", "junk", "reputation"),
        *("policy", "spf", "dkim", "dmarc", "authenticated", "unauthenticated", "authorised"),
        *("reverse", "ptr", "rdns", "helo", "host name", "client host", "your ip", "sender"),
        *("mail from", "return path", "relay denied", "virus", "filter", "content", "header"),
        *("attachment", "message size", "tls", "rejected because", "not allowed from"),
        *("geographic", "submission", "spoofed", "service unavailable", "must use", "bad domain"),
        *("security", "protocol", "restricted", "bulk", "does not like", "source", "callout"),
        *("dns", "rejected for", "violation", "comply", "loop"),
    ],
    "rate": ["rate", "too many", "throttled", "connection", "slow down", "delayed", "busy"],
    "later": ["later", "temporarily", "deferred", "not ready", "overloaded", "internal error"],
    "grey": ["greylisted", "graylisting", "try again in 5"],
}


def test_reply_has_its_class() -> None:
    for expected, provider, reply in REPLIES:
        assert classify("rcpt", reply, provider, "jane") == expected, reply
        assert classify("rcpt", reply.encode(), provider, "jane") == expected, reply


@pytest.mark.parametrize("group", CONTRARY_WORDS)
def test_contrary_word_leaves_nothing_definite(group: str) -> None:
    for reply in GONE:
        for word in CONTRARY_WORDS[group]:
            for text in (f"{reply} {word}", f"{reply[:4]}{word}: {reply[4:]}"):
                # A status that names the mailbox outweighs a promise that others work later.
                if group == "later" and "5.1." in text:
                    continue
                assert classify("rcpt", text, None, "jane") not in DEFINITE, text


def test_temporary_reply_never_says_that_a_mailbox_is_gone() -> None:
    gone = {ReplyClass.GONE, ReplyClass.DISABLED}
    for _, provider, reply in REPLIES:
        temporary = "\n".join(f"4{line[1:]}" for line in reply.split("\n"))
        assert classify("rcpt", temporary, provider, "jane") not in gone, reply


@pytest.mark.parametrize("stage", ["connect", "ehlo", "starttls", "mail"])
def test_nothing_is_definite_before_the_recipient(stage: str) -> None:
    for _, provider, reply in REPLIES:
        assert classify(stage, reply, provider, "jane") not in DEFINITE
    assert classify(stage, "521 5.3.2 No mail here", None, "jane") == ReplyClass.NO_MAIL


@pytest.mark.parametrize(
    "local_part", ["user.unknown", "spam", "quota", "disabled", "blocked", "no.such.user", "a"]
)
def test_asked_address_changes_nothing(local_part: str) -> None:
    for expected, provider, reply in REPLIES:
        echoed = f"{reply} <{local_part}@shop.example> {local_part}@shop.example"
        assert classify("rcpt", echoed, provider, local_part) == expected, echoed


def test_local_part_that_is_a_reason_stays_a_reason() -> None:
    assert classify("rcpt", "550 5.1.1 rejected as spam", None, "spam") == "refused_us"
    assert classify("rcpt", "550 5.1.1 spam: User unknown", None, "spam") == "gone"


@given(st.sampled_from(STAGES), st.binary(max_size=700) | st.text(max_size=700), st.text())
def test_any_reply_has_a_class(stage: str, reply: bytes | str, local_part: str) -> None:
    assert classify(stage, reply, None, local_part) in ReplyClass


@pytest.mark.parametrize("unit", ["<", "[", "a", "1.", "user ", "try again ", "\n", "550-"])
def test_long_reply_is_read_in_part(unit: str) -> None:
    reply = "550 5.1.1 User unknown\r\n" + unit * (64_000 // len(unit))
    assert classify("rcpt", reply, None, "jane") in ReplyClass


def test_shown_reply_names_no_address() -> None:
    reply = (
        "550 5.1.1 <Jane.Doe@shop.example>: \x1b[31mJane.Doe\x1b[0m unknown\r\n at 192.0.2.1, "
        "2001:db8::1, postmaster@shop.example \x00"
    )
    assert redact(reply, "jane.doe") == "550 5.1.1 <…>: … unknown at …, …, …"
