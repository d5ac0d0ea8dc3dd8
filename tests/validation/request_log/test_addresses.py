"""What the request log keeps of an address."""

import pytest

from validation.addresses import address_hash, masked, pack_checks, unpack_checks
from validation.engine.verdict import CHECKS


@pytest.mark.parametrize(
    ("email", "domain", "mask"),
    [
        ("jane@example.com", "example.com", "j***@example.com"),
        ("no address", None, "n***"),
        ("\0jane@example.com", None, "***"),
        ("\u202ex", None, "***"),
        ("😀", None, "😀***"),
    ],
)
def test_an_address_is_masked(email: str, domain: str | None, mask: str) -> None:
    assert masked(email, domain) == mask


def test_whoever_looks_for_a_whole_address_finds_it_however_it_is_written() -> None:
    spellings = [
        "Jane@Example.com",
        "jane@example.com",
        " jane@example.com ",
        '"jane"@example.com.',
    ]
    assert len({address_hash(email) for email in spellings}) == 1
    assert address_hash("jane@example.com") != address_hash("joan@example.com")


def test_a_domain_is_the_same_in_unicode_and_as_the_dns_has_it() -> None:
    domains = ["bücher.example", "BÜCHER.example", "xn--bcher-kva.example", "bu\u0308cher。example"]
    assert len({address_hash(f"jane@{domain}") for domain in domains}) == 1


@pytest.mark.parametrize("odd", ["", "@", "\0", "jane", "a@b@c", "jane@xn--", "jane@ü" * 60, '"@x'])
def test_what_is_no_address_has_a_hash_of_its_own(odd: str) -> None:
    assert address_hash(odd) != address_hash(f"x{odd}")


def test_checks_come_out_as_they_went_in() -> None:
    checks = {"syntax": True, "null_mx": False, "mailbox_disabled": True}
    unpacked = unpack_checks(pack_checks(checks, CHECKS), CHECKS)
    assert unpacked == {**dict.fromkeys(CHECKS), **checks}
