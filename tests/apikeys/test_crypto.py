import re
import string
from zlib import crc32

import pytest

from apikeys import crypto


def test_a_key_has_the_documented_form() -> None:
    for _ in range(100):
        assert re.fullmatch(r"svc_live_[0-9A-Za-z]{38}", crypto.generate())


def test_the_random_part_uses_every_character_of_base62() -> None:
    drawn = "".join(crypto.generate()[9:41] for _ in range(300))
    assert set(drawn) == set(string.digits + string.ascii_letters)


def test_the_checksum_is_crc32_in_base62() -> None:
    body = "svc_live_" + "0" * 32
    number = 0
    for character in crypto.checksum(body):
        number = number * 62 + crypto.ALPHABET.index(character)
    assert number == crc32(body.encode())


def test_every_single_typing_error_is_noticed() -> None:
    secret = crypto.generate()
    assert crypto.is_well_formed(secret)
    for place in range(9, len(secret)):
        for other in "0aZ":
            mistyped = secret[:place] + other + secret[place + 1 :]
            assert crypto.is_well_formed(mistyped) is (mistyped == secret)


@pytest.mark.parametrize(
    "odd", ["", "svc_live_", "svc_test_" + "a" * 38, "svc_live_" + "é" * 38, "svc_live_" + "a" * 38]
)
def test_what_has_another_form_is_no_key(odd: str) -> None:
    assert not crypto.is_well_formed(odd)
    assert not crypto.is_well_formed(crypto.generate() + "\n")
    assert not crypto.is_well_formed(crypto.generate()[:-1])


def test_a_secret_is_recognised_inside_other_text_and_without_its_prefix() -> None:
    secret = crypto.generate()
    for text in (secret, secret.upper(), secret[9:], f"x{secret[9:]}y", f"a-{secret[9:]}_b"):
        assert crypto.holds_a_secret(text)
    for text in ("", "client-id_123", "a" * 64, "0" * 38, "5f" * 32, crypto.generate()[9:46]):
        assert not crypto.holds_a_secret(text)


def test_the_digest_depends_on_the_pepper() -> None:
    secret = crypto.generate()
    assert crypto.digest(secret, "one") != crypto.digest(secret, "two")
    assert len(crypto.digest(secret, "one")) == 64


def test_people_see_the_first_and_the_last_four_characters() -> None:
    secret = crypto.generate()
    assert crypto.ends(secret) == (secret[9:13], secret[-4:])
