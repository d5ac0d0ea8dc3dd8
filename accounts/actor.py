from dataclasses import dataclass
from typing import Self

from accounts import audit
from accounts.models import Account, User
from accounts.request import AccountRequest


@dataclass(frozen=True, slots=True)
class Actor:
    """A member in the dashboard, or the service itself. `apikeys` adds API keys."""

    account: Account
    user: User | None = None

    @classmethod
    def of_page(cls, request: AccountRequest) -> Self:
        return cls(request.account, user=request.user)

    @property
    def name(self) -> str:
        return self.user.email if self.user else audit.SYSTEM

    def record(self, action: str, target: str) -> None:
        audit.record(self.account, self.user, action, target, anonymous_name=self.name)
