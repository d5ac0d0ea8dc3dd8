"""Limit how many messages one lookup may send to resolvers. Pure."""

# Every retry, alias hop and TCP query counts as one message.
MAX_MESSAGES = 60
# Sign-up only needs to know whether the domain can receive mail.
MAX_SIGN_UP_MESSAGES = 4


class BudgetExhausted(Exception):
    """The lookup has no messages left."""


class MessageBudget:
    """Counts the messages of one lookup as they are handed to a socket."""

    def __init__(self, messages: int = MAX_MESSAGES) -> None:
        self.remaining = messages
        # True only once a message was refused: a lookup that needs exactly its budget is complete.
        self.is_exhausted = False

    def consume(self) -> None:
        """Take one message, or raise BudgetExhausted."""
        if not self.remaining:
            self.is_exhausted = True
            raise BudgetExhausted
        self.remaining -= 1
