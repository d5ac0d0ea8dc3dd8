"""Public ids of what an account consists of. Pure."""

from runtime.ids import random_id


def account_id() -> str:
    return random_id("acc")


def membership_id() -> str:
    return random_id("mem")


def invitation_id() -> str:
    return random_id("inv")
