"""Masks, hashes and packed checks in the request log."""

import pytest

from engine.verdicts.finding import CHECKS
from validation.addresses import address_hash, mask_address
from validation.models import LogEntry
from validation.models.log_entries import pack_checks


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
def test_address_is_masked(email: str, domain: str | None, mask: str) -> None:
    assert mask_address(email, domain) == mask


def test_every_spelling_of_an_address_has_the_same_hash() -> None:
    spellings = [
        "Jane@Example.com",
        "jane@example.com",
        " jane@example.com ",
        '"jane"@example.com.',
    ]
    assert len({address_hash(email) for email in spellings}) == 1
    assert address_hash("jane@example.com") != address_hash("joan@example.com")


def test_unicode_and_punycode_domains_have_the_same_hash() -> None:
    domains = ["bücher.example", "BÜCHER.example", "xn--bcher-kva.example", "bu\u0308cher。example"]
    assert len({address_hash(f"jane@{domain}") for domain in domains}) == 1


@pytest.mark.parametrize(
    "text", ["", "@", "\0", "jane", "a@b@c", "jane@xn--", "jane@ü" * 60, '"@x']
)
def test_invalid_addresses_have_distinct_hashes(text: str) -> None:
    assert address_hash(text) != address_hash(f"x{text}")


def test_packed_checks_unpack_to_the_same_values() -> None:
    checks = {"syntax": True, "null_mx": False, "mailbox_disabled": True}
    entry = LogEntry(checks=pack_checks(checks))
    assert entry.check_values == {**dict.fromkeys(CHECKS), **checks}


@pytest.mark.parametrize("account_list", [None, "allowed", "denied"])
def test_account_list_is_packed_with_the_checks(account_list: str | None) -> None:
    checks = dict.fromkeys(CHECKS, True)
    entry = LogEntry(checks=pack_checks(checks, account_list))
    assert entry.account_list == account_list
    assert entry.check_values == checks
    assert 0 < entry.checks < 2**63
