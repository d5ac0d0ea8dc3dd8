"""Public ids are random, so they can't be counted or guessed."""

from django.utils.crypto import get_random_string


def random_id(prefix: str) -> str:
    return f"{prefix}_{get_random_string(20)}"


def request_id() -> str:
    return random_id("req")
