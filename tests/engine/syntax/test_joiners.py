"""Zero-width joiners before the @: part of words in some scripts, and invisible elsewhere."""

import pytest

from engine.check import Engine
from engine.syntax.parsing import AddressParts, SyntaxProblem, parse_address
from tests.servers.dns import FakeDns

NON_JOINER, JOINER = "\u200c", "\u200d"
PERSIAN = f"می{NON_JOINER}خواهم"
HINDI = f"क्{JOINER}ष"


@pytest.mark.parametrize(
    "local_part",
    [
        PERSIAN,
        HINDI,
        f"क्{NON_JOINER}ष",
        f"ශ්{JOINER}රී",
        f"{PERSIAN}.{HINDI}",
        f"jane.{PERSIAN}+news",
        # The mark between the letter and the joiner is transparent.
        f"مِ{NON_JOINER}خ",
    ],
)
@pytest.mark.parametrize("domain", ["shop.com", f"نامه{NON_JOINER}ای.com"])
def test_joiner_inside_a_word_is_valid(local_part: str, domain: str) -> None:
    parts = parse_address(f"{local_part}@{domain}")
    assert isinstance(parts, AddressParts)
    assert (parts.local_part, parts.domain) == (local_part, domain)


@pytest.mark.parametrize("joiner", [NON_JOINER, JOINER])
@pytest.mark.parametrize(
    "local_part",
    [
        *("{}", "{}jane", "jane{}", "ja{}ne", "{}می", "می{}", "ا{}می", "می{}{}خ", "می{}.خ"),
        *("می.{}خ", "👨{}👩"),
    ],
)
def test_joiner_anywhere_else_is_an_invisible_character(joiner: str, local_part: str) -> None:
    problem = parse_address(f"{local_part.replace('{}', joiner)}@shop.com")
    assert problem == SyntaxProblem("control_character")


@pytest.mark.parametrize(
    "character", ["\u200b", "\u200e", "\u202e", "\u2060", "\ufeff", "\u00ad", "\0", "\n"]
)
def test_other_invisible_character_stays_invalid_in_a_word_with_joiners(character: str) -> None:
    assert isinstance(parse_address(f"{PERSIAN}{character}{PERSIAN}@shop.com"), SyntaxProblem)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (f"{PERSIAN}@@shop.com", "several_at_signs"),
        (f".{PERSIAN}@shop.com", "local_part_starts_with_dot"),
        (f"{PERSIAN}..a@shop.com", "double_dot"),
        (f"{PERSIAN} a@shop.com", "space"),
        (f'"{PERSIAN}"@shop.com', "quoted_local_part"),
        (f"{PERSIAN}@shop", "no_top_level_name"),
        (f"{PERSIAN}@shop,com", "comma_in_domain"),
        (f"{HINDI * 6}@shop.com", "local_part_too_long"),
        (f"{HINDI * 5}@{'a' * 63}.{'b' * 63}.{'c' * 62}.com", "too_long"),
    ],
)
def test_other_errors_are_found_next_to_a_valid_joiner(text: str, code: str) -> None:
    assert parse_address(text) == SyntaxProblem(code)


def test_joiner_counts_for_the_length() -> None:
    """Each takes three octets of the 64."""
    longest = f"{PERSIAN}{'a' * (64 - len(PERSIAN.encode()))}"
    assert isinstance(parse_address(f"{longest}@shop.com"), AddressParts)
    assert parse_address(f"{longest}a@shop.com") == SyntaxProblem("local_part_too_long")


def test_address_with_a_joiner_needs_smtputf8(patient_engine: Engine, fake_dns: FakeDns) -> None:
    fake_dns.add_mail_domain("shop.com")
    finding = patient_engine.check(f"{PERSIAN}@shop.com")
    assert finding.reasons == ("smtputf8_required",)
    assert finding.canonical == f"{PERSIAN}@shop.com"
