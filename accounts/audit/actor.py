from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from accounts.audit.models import SYSTEM
from accounts.audit.recording import record
from accounts.request import AccountRequest

if TYPE_CHECKING:
    from accounts.models import Account, User


@dataclass(frozen=True, slots=True)
class Actor:
    """A member in the dashboard, or the service itself. `apikeys` adds API keys."""

    account: "Account"
    user: "User | None" = None

    @classmethod
    def of_page(cls, request: AccountRequest) -> Self:
        return cls(request.account, user=request.user)

    @property
    def name(self) -> str:
        return self.user.email if self.user else SYSTEM

    def record(self, action: str, target: str) -> None:
        record(self.account, self.user, action, target, anonymous_name=self.name)
