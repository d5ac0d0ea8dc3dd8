"""What an API key uses of its credits per month, and how pages and emails describe it. Pure."""

from dataclasses import dataclass
from datetime import date

from django.template.defaultfilters import pluralize

from runtime.dates import next_month

# The highest limit that can be set.
MAX_CREDITS_PER_MONTH = 1_000_000_000
# An email says when as much of a limit is used.
WARNING_PERCENT = 80


@dataclass(frozen=True, slots=True)
class CreditUse:
    """What counts toward a key's limit in a month."""

    limit: int
    # Charged in this month.
    charged: int
    # Held for lists that haven't ended.
    held: int
    # The first day of the month.
    month: date

    @property
    def used(self) -> int:
        return self.charged + self.held

    @property
    def remaining(self) -> int:
        """Return 0 if the limit was lowered below the use."""
        return max(0, self.limit - self.used)

    @property
    def percent(self) -> int:
        """Return the used share of the limit, at most 100."""
        return min(100, 100 * self.used // self.limit)

    def nears_limit(self, added: int) -> bool:
        """Return whether the credits that were added last reach the percentage of the email."""
        warned_at = -(-self.limit * WARNING_PERCENT // 100)
        return self.used - added < warned_at <= self.used < self.limit

    @property
    def resets_on(self) -> date:
        return next_month(self.month)

    @property
    def amount(self) -> str:
        """Say how much is used: "1,240 of 5,000 credits used in November"."""
        held = f" ({self.held:,} of them held for lists)" if self.held else ""
        unit = f"credit{pluralize(self.limit)}"
        return f"{self.used:,} of {self.limit:,} {unit} used in {self.month:%B}{held}"

    @property
    def reset(self) -> str:
        """Say when the use starts at 0 again: "resets on December 1 (UTC)"."""
        return f"resets on {self.resets_on:%B} {self.resets_on.day} (UTC)"

    @property
    def summary(self) -> str:
        return f"{self.amount}; {self.reset}"
