"""Any text as an address: the engine answers, quickly, and what it answers is consistent."""

import time
from typing import Any

import orjson
import pytest
from email_validator import EmailNotValidError, validate_email
from hypothesis import strategies as st

from tests.fuzz.addresses import addresses, plain_addresses
from tests.fuzz.effort import explore
from tests.fuzz.verdicts import assert_consistent
from validation.engine.check import Engine
from validation.engine.dns.resolver import Resolver
from validation.engine.syntax import Parts, SyntaxProblem, parse_address

pytestmark = pytest.mark.anywhere

SECONDS = 0.1
# What the library leaves to its look-up of the domain, and how long an address may be.
STRICTER = {"no_top_level_name", "ip_address", "numeric_top_level_name", "too_long"}
JOINERS = "\u200c\u200d"
FORBIDDEN = ' \t\r\n\0()<>[]:;,\\"\x7f\u202e\u200b\ud800'


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine(Resolver(["127.0.0.1:9"]))


def seconds_of_work(act: Any, *arguments: Any) -> float:
    """Of the processor: a busy machine is not slow code."""
    began = time.thread_time()
    act(*arguments)
    return time.thread_time() - began


def test_every_text_gets_a_consistent_finding(engine: Engine) -> None:
    def any_address(email: str) -> None:
        finding = engine.check_without_dns(email)
        # Without either of them it failed inside, and said so in the log.
        assert finding.parts or finding.syntax_problem
        assert_consistent(finding.document())
        orjson.dumps({**finding.document(), "email": ""})

    explore(any_address, quick=100, email=addresses)


def test_no_text_takes_longer_than_a_tenth_of_a_second(engine: Engine) -> None:
    def any_length(piece: str, times: int) -> None:
        email = (piece * times)[:20_000]
        quickest = min(seconds_of_work(engine.check_without_dns, email) for _ in range(3))
        assert quickest < SECONDS

    explore(any_length, quick=40, piece=addresses, times=st.sampled_from([1, 2, 7, 300, 20_000]))


def test_what_is_normal_stays_as_it_is(engine: Engine) -> None:
    def any_address(email: str) -> None:
        first = engine.check_without_dns(email)
        if first.parts is None:
            return
        again = engine.check_without_dns(first.parts.normalized)
        assert again.parts == first.parts
        assert (again.canonical, again.tag, again.reasons) == (
            first.canonical,
            first.tag,
            first.reasons,
        )

    explore(any_address, quick=60, email=addresses)


def test_the_mailbox_behind_a_mailbox_is_itself(engine: Engine) -> None:
    def any_address(email: str) -> None:
        canonical = engine.check_without_dns(email).canonical
        if canonical is None:
            return
        again = engine.check_without_dns(canonical)
        assert again.canonical == canonical
        shouted = engine.check_without_dns(email.swapcase() if email.isascii() else email)
        assert shouted.canonical == canonical

    explore(any_address, quick=60, email=addresses)


def test_what_is_suggested_is_an_address_that_needs_no_suggestion(engine: Engine) -> None:
    def any_address(email: str) -> None:
        suggestion = engine.check_without_dns(email).did_you_mean
        if suggestion is None:
            return
        assert suggestion != email
        meant = engine.check_without_dns(suggestion)
        assert meant.parts is not None
        assert meant.parts.normalized == suggestion
        assert meant.reason not in {"invalid_syntax", "reserved_domain"}
        assert meant.did_you_mean is None

    explore(any_address, quick=60, email=addresses)


def test_the_library_and_the_engine_agree_what_an_address_is() -> None:
    def any_address(email: str) -> None:
        ours, theirs = parse_address(email), _as_the_library_reads(email)
        if isinstance(ours, SyntaxProblem):
            longest = "local_part_too_long"
            assert theirs is None or ours.code in STRICTER or ours.code == longest
        elif theirs is None:
            assert any(joiner in ours.domain for joiner in JOINERS)
        else:
            assert (ours.domain, ours.ascii_domain) == theirs

    explore(any_address, quick=100, email=addresses)


def test_every_address_of_the_plain_grammar_is_one() -> None:
    def any_plain(email: str) -> None:
        assert isinstance(parse_address(email), Parts)

    explore(any_plain, quick=30, email=plain_addresses)


def test_a_forbidden_character_makes_it_none() -> None:
    def spoilt(email: str, place: int, character: str) -> None:
        start = place % len(email)
        read = parse_address(email[:start] + character + email[start:])
        assert isinstance(read, SyntaxProblem)
        assert read.message.endswith(".")

    explore(
        spoilt,
        quick=40,
        email=plain_addresses,
        place=st.integers(0, 99),
        character=st.sampled_from(FORBIDDEN),
    )


def _as_the_library_reads(email: str) -> tuple[str, str] | None:
    try:
        read = validate_email(
            email, check_deliverability=False, globally_deliverable=False, strict=True
        )
    except EmailNotValidError:
        return None
    return read.domain, read.ascii_domain
