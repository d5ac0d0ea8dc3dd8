from dataclasses import dataclass
from datetime import date

from django.template.defaultfilters import pluralize

from runtime.dates import next_month

MAX_CREDITS_PER_MONTH = 1_000_000_000
# An email warns at this share.
WARNING_PERCENT = 80


@dataclass(frozen=True, slots=True)
class CreditUse:
    limit: int
    charged: int
    # For unfinished lists.
    held: int
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
        return min(100, 100 * self.used // self.limit)

    def nears_limit(self, added: int) -> bool:
        """Return whether the credits added last reached the warning."""
        warned_at = -(-self.limit * WARNING_PERCENT // 100)
        return self.used - added < warned_at <= self.used < self.limit

    @property
    def resets_on(self) -> date:
        return next_month(self.month)

    @property
    def amount(self) -> str:
        """Return "1,240 of 5,000 credits used in November"."""
        held = f" ({self.held:,} of them held for work in progress)" if self.held else ""
        unit = f"credit{pluralize(self.limit)}"
        return f"{self.used:,} of {self.limit:,} {unit} used in {self.month:%B}{held}"

    @property
    def reset(self) -> str:
        """Return "resets on December 1 (UTC)"."""
        return f"resets on {self.resets_on:%B} {self.resets_on.day} (UTC)"

    @property
    def summary(self) -> str:
        return f"{self.amount}; {self.reset}"
