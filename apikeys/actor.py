from dataclasses import dataclass
from typing import Self

from accounts import audit
from accounts.models import Account, User
from accounts.request import AccountRequest
from apikeys.models import ApiKey
from apikeys.request import ApiCall


@dataclass(frozen=True, slots=True)
class Actor:
    """A member in the dashboard, an API key, or the service itself."""

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
        audit.record(self.account, self.user, action, target, self.ip, anonymous_name=self.name)
