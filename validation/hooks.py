from dataclasses import dataclass
from typing import Protocol

from accounts.models import Account
from runtime.hooks import Hook


@dataclass(frozen=True)
class AddressErasure:
    accounts: frozenset[int]
    lists: int
    # Lists that may still be parsed, and have the address.
    readable_lists: int


class AddressErased(Protocol):
    def __call__(self, *, email: str, account: Account | None) -> int:
        """Erase the address, and return the number of rows."""


class FindAddressErasure(Protocol):
    def __call__(self, *, email: str, account: Account | None) -> AddressErasure: ...


on_address_erased = Hook[AddressErased]("ON_ADDRESS_ERASED")
# This setting has exactly one path.
address_erasures = Hook[FindAddressErasure]("ADDRESS_ERASURES")
