"""How many messages one lookup may send to resolvers. Pure."""

# A repetition, a step to the next alias and a query over TCP count as one each.
LARGEST = 60
# A sign-up needs to know only whether the domain may receive mail.
LARGEST_FOR_SIGN_UP = 4


class BudgetExhausted(Exception):
    """No message is left."""


class MessageBudget:
    """Counts the messages of one lookup where they are handed to a socket."""

    def __init__(self, messages: int = LARGEST) -> None:
        self.remaining = messages
        # Whether a message was refused, which is the case only where one more was needed.
        self.is_exhausted = False

    def spend(self) -> None:
        """Takes one message, or raises BudgetExhausted."""
        if not self.remaining:
            self.is_exhausted = True
            raise BudgetExhausted
        self.remaining -= 1
