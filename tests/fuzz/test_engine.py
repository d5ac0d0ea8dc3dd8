"""Any text as an address gets a consistent finding quickly."""

import orjson
import pytest
from email_validator import EmailNotValidError, validate_email
from hypothesis import strategies as st

from engine.check import Engine
from engine.dns.resolver import Resolver
from engine.syntax.parsing import AddressParts, SyntaxProblem, parse_address
from tests.fuzz.addresses import addresses, plain_addresses
from tests.fuzz.exploration import explore
from tests.fuzz.verdicts import assert_consistent

# Errors that the library leaves to its deliverability check, our length limit, and lost letters.
STRICTER = {
    *("no_top_level_name", "ip_address", "numeric_top_level_name", "too_long"),
    "replacement_character",
}
JOINERS = "\u200c\u200d"
FORBIDDEN = ' \t\r\n\0()<>[]:;,\\"\x7f\u202e\u200b\ud800'


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine(Resolver(["127.0.0.1:9"]))


def test_every_text_gets_a_consistent_finding(engine: Engine) -> None:
    def any_address(email: str) -> None:
        finding = engine.check_offline(email)
        # Without either, the engine failed and logged an exception.
        assert finding.parts or finding.syntax_problem
        assert_consistent(finding.document())
        orjson.dumps({**finding.document(), "email": ""})

    explore(any_address, quick=100, email=addresses)


def test_normalization_is_idempotent(engine: Engine) -> None:
    def any_address(email: str) -> None:
        first = engine.check_offline(email)
        if first.parts is None:
            return
        again = engine.check_offline(first.parts.normalized)
        assert again.parts == first.parts
        assert (again.canonical, again.tag, again.reasons) == (
            first.canonical,
            first.tag,
            first.reasons,
        )

    explore(any_address, quick=60, email=addresses)


def test_canonicalization_is_idempotent(engine: Engine) -> None:
    def any_address(email: str) -> None:
        canonical = engine.check_offline(email).canonical
        if canonical is None:
            return
        again = engine.check_offline(canonical)
        assert again.canonical == canonical
        swapped_case = engine.check_offline(email.swapcase() if email.isascii() else email)
        assert swapped_case.canonical == canonical

    explore(any_address, quick=60, email=addresses)


def test_suggestion_is_valid_and_needs_no_further_suggestion(engine: Engine) -> None:
    def any_address(email: str) -> None:
        suggestion = engine.check_offline(email).did_you_mean
        if suggestion is None:
            return
        assert suggestion != email
        suggested = engine.check_offline(suggestion)
        assert suggested.parts is not None
        assert suggested.parts.normalized == suggestion
        assert suggested.reason not in {"invalid_syntax", "reserved_domain"}
        assert suggested.did_you_mean is None

    explore(any_address, quick=60, email=addresses)


def test_engine_and_library_agree_on_valid_addresses() -> None:
    def any_address(email: str) -> None:
        ours, library = parse_address(email), _parse_with_library(email)
        if isinstance(ours, SyntaxProblem):
            is_stricter = ours.code in STRICTER or ours.code == "local_part_too_long"
            assert library is None or is_stricter
        elif library is None:
            assert any(joiner in ours.normalized for joiner in JOINERS)
        else:
            assert (ours.domain, ours.ascii_domain) == library

    explore(any_address, quick=100, email=addresses)


def test_every_plain_address_is_valid() -> None:
    def any_plain(email: str) -> None:
        assert isinstance(parse_address(email), AddressParts)

    explore(any_plain, quick=30, email=plain_addresses)


def test_forbidden_character_makes_an_address_invalid() -> None:
    def any_insertion(email: str, position: int, character: str) -> None:
        start = position % len(email)
        problem = parse_address(email[:start] + character + email[start:])
        assert isinstance(problem, SyntaxProblem)
        assert problem.message.endswith(".")

    explore(
        any_insertion,
        quick=40,
        email=plain_addresses,
        position=st.integers(0, 99),
        character=st.sampled_from(FORBIDDEN),
    )


def _parse_with_library(email: str) -> tuple[str, str] | None:
    try:
        address = validate_email(
            email, check_deliverability=False, globally_deliverable=False, strict=True
        )
    except EmailNotValidError:
        return None
    return address.domain, address.ascii_domain
