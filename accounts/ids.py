"""Public ids: what URLs and API answers call a thing. Random, so that nobody can count or guess."""

import secrets
import string

_ALPHABET = string.ascii_letters + string.digits
_LENGTH = 20


def random_id(prefix: str) -> str:
    return f"{prefix}_{''.join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))}"


def account_id() -> str:
    return random_id("acc")


def membership_id() -> str:
    return random_id("mem")


def invitation_id() -> str:
    return random_id("inv")


def key_id() -> str:
    return random_id("key")


def request_id() -> str:
    return random_id("req")


def pack_id() -> str:
    return random_id("pck")


def order_id() -> str:
    return random_id("ord")
