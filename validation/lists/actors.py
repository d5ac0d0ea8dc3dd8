"""Who starts, stops or deletes a list: a member in the dashboard, or an API key."""

from dataclasses import dataclass

from accounts import audit
from accounts.models import User
from apikeys.models import ApiKey
from validation.models import AddressList


@dataclass(frozen=True, slots=True)
class Actor:
    """Neither a user nor a key: the service itself."""

    user: User | None = None
    key: ApiKey | None = None
    ip: str | None = None

    def record(self, address_list: AddressList, action: str) -> None:
        """Add an entry to the audit log, in the transaction of the action."""
        target = f"{address_list.name} ({address_list.public_id})"
        account = address_list.account
        if self.key is None:
            audit.record(account, self.user, action, target, self.ip)
        else:
            name = f"API key {self.key}"[:254]
            audit.record(account, None, action, target, self.ip, anonymous_name=name)


SERVICE = Actor()
