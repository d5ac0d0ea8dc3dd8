"""Public ids are random, so they can't be counted or guessed."""

import secrets

from django.utils.crypto import get_random_string


def random_id(prefix: str) -> str:
    return f"{prefix}_{get_random_string(20)}"


def request_id() -> str:
    # One system call instead of one per character.
    return f"req_{secrets.token_hex(10)}"
