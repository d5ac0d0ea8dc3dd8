"""How payments with a saved card end, without Stripe's library."""

from dataclasses import dataclass
from enum import StrEnum, auto


class Status(StrEnum):
    # Created, but not confirmed.
    READY = auto()
    PAID = auto()
    FAILED = auto()
    # The bank hasn't decided.
    OPEN = auto()
    CANCELED = auto()


@dataclass(frozen=True)
class Payment:
    intent: str
    status: Status
    failure: str = ""
