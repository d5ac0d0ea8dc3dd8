"""Limit how many messages one lookup may send to resolvers. Pure."""

from typing import NamedTuple


class LookupScope(NamedTuple):
    """What a lookup queries."""

    # Every retry, alias hop and TCP query counts as one message.
    max_messages: int
    # Only this many mail hosts are resolved, those with the best preference.
    max_hosts: int
    # SPF and DMARC records, and the probes that detect a lying resolver.
    has_policies: bool
    # Whether IPv6 addresses of mail hosts are queried only if no host has an IPv4 address. Saves a
    # message per host, but may take longer.
    is_patient: bool = False


FULL = LookupScope(max_messages=60, max_hosts=10, has_policies=True)
# For lists, whose lookups need not be quick.
LIST = FULL._replace(is_patient=True)
# Sign-up only needs to know whether the domain names a destination for mail.
SIGN_UP = LookupScope(max_messages=4, max_hosts=0, has_policies=False)
# For visitors without an account.
VISITOR = LookupScope(max_messages=4, max_hosts=1, has_policies=False)


class BudgetExhausted(Exception):
    """The lookup has no messages left."""


class MessageBudget:
    """Counts the messages of one lookup as they are handed to a socket."""

    def __init__(self, messages: int = FULL.max_messages) -> None:
        self.remaining = messages
        # True only once a message was refused: a lookup that needs exactly its budget is complete.
        self.is_exhausted = False

    def consume(self) -> None:
        """Take one message, or raise BudgetExhausted."""
        if not self.remaining:
            self.is_exhausted = True
            raise BudgetExhausted
        self.remaining -= 1
