from dataclasses import dataclass
from typing import Self

from accounts import audit
from accounts.models import Account, User
from accounts.request import AccountRequest
from apikeys.models import ApiKey
from apikeys.request import ApiCall


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts for an account: a member in the dashboard, a key through the API, or neither."""

    account: Account
    user: User | None = None
    key: ApiKey | None = None
    ip: str | None = None

    @classmethod
    def of_page(cls, request: AccountRequest) -> Self:
        return cls(request.account, user=request.user, ip=request.ip)

    @classmethod
    def of_call(cls, call: ApiCall) -> Self:
        return cls(call.key.account, key=call.key, ip=call.ip)

    @property
    def name(self) -> str:
        if self.user is not None:
            return self.user.email
        return f"API key {self.key.name}" if self.key else audit.SYSTEM

    def record(self, action: str, target: str) -> None:
        """Add an entry to the account's audit log."""
        audit.record(self.account, self.user, action, target, self.ip, anonymous_name=self.name)
