from dataclasses import dataclass
from typing import Self

from accounts import audit
from apikeys.models import ApiKey
from apikeys.request import ApiCall


@dataclass(frozen=True)
class Actor(audit.Actor):
    """A member in the dashboard, an API key, or the service itself."""

    key: ApiKey | None = None

    @classmethod
    def of_call(cls, call: ApiCall) -> Self:
        return cls(call.key.account, key=call.key)

    @property
    def name(self) -> str:
        return f"API key {self.key.name}" if self.key else super().name
