from typing import NamedTuple


class LookupScope(NamedTuple):
    # Retries, alias hops and TCP queries count, too.
    max_messages: int
    # Hosts with the best preference.
    max_hosts: int
    # SPF, DMARC, and probes.
    has_policies: bool
    # Query IPv6 only if no host has IPv4: fewer messages, but slower.
    is_patient: bool = False


FULL = LookupScope(max_messages=60, max_hosts=10, has_policies=True)
LIST = FULL._replace(is_patient=True)
# Only whether mail has a destination.
SIGN_UP = LookupScope(max_messages=4, max_hosts=0, has_policies=False)
# For visitors without an account.
VISITOR = LookupScope(max_messages=4, max_hosts=1, has_policies=False)


class BudgetExhausted(Exception):
    pass


class MessageBudget:
    def __init__(self, messages: int = FULL.max_messages) -> None:
        self.remaining = messages
        # Only after a refusal: a lookup may need exactly its budget.
        self.is_exhausted = False

    def consume(self) -> None:
        if not self.remaining:
            self.is_exhausted = True
            raise BudgetExhausted
        self.remaining -= 1
