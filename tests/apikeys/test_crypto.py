import re
import string
from zlib import crc32

import pytest

from apikeys import crypto


def test_key_has_the_documented_format_and_mask() -> None:
    for _ in range(100):
        assert re.fullmatch(r"svc_live_[0-9A-Za-z]{38}", crypto.generate())
    characters = "".join(crypto.generate()[9:41] for _ in range(300))
    assert set(characters) == set(string.digits + string.ascii_letters)
    secret = crypto.generate()
    assert crypto.first_and_last_four(secret) == (secret[9:13], secret[-4:])


def test_checksum_is_crc32_in_base62() -> None:
    body = "svc_live_" + "0" * 32
    number = 0
    for character in crypto.checksum(body):
        number = number * 62 + crypto.ALPHABET.index(character)
    assert number == crc32(body.encode())


def test_checksum_detects_every_single_character_typo() -> None:
    secret = crypto.generate()
    assert crypto.is_well_formed(secret)
    for index in range(9, len(secret)):
        for other in "0aZ":
            mistyped = secret[:index] + other + secret[index + 1 :]
            assert crypto.is_well_formed(mistyped) is (mistyped == secret)


@pytest.mark.parametrize(
    "malformed",
    ["", "svc_live_", "svc_test_" + "a" * 38, "svc_live_" + "é" * 38, "svc_live_" + "a" * 38],
)
def test_malformed_key_is_not_well_formed(malformed: str) -> None:
    assert not crypto.is_well_formed(malformed)
    assert not crypto.is_well_formed(crypto.generate() + "\n")
    assert not crypto.is_well_formed(crypto.generate()[:-1])


def test_secret_is_found_inside_other_text_and_without_its_prefix() -> None:
    secret = crypto.generate()
    for text in (secret, secret.upper(), secret[9:], f"x{secret[9:]}y", f"a-{secret[9:]}_b"):
        assert crypto.contains_secret(text)
    for text in ("", "client-id_123", "a" * 64, "0" * 38, "5f" * 32, crypto.generate()[9:46]):
        assert not crypto.contains_secret(text)
