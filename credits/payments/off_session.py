"""How a payment with the saved card ends, without the library of a provider."""

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
    # The provider's id.
    intent: str
    status: Status
    # The provider's code for a failure.
    failure: str = ""
