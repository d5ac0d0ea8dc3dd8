from collections.abc import Sequence
from typing import Protocol

from accounts.models import Account
from apikeys.credit_limits import CreditUse
from apikeys.models import ApiKey
from apikeys.request import ApiHttpRequest
from runtime.hooks import Hook


class ApiResponded(Protocol):
    def __call__(
        self, *, request: ApiHttpRequest, key: ApiKey, status: int, duration_ms: int
    ) -> None: ...


class FindCreditUse(Protocol):
    def __call__(self, *, keys: Sequence[ApiKey]) -> dict[int, CreditUse]:
        """Return this month's use of keys with a limit."""


class CountRequests(Protocol):
    def __call__(self, *, account: Account) -> dict[int, int]:
        """Return the requests of the last 7 days by key, without lists."""


on_api_response = Hook[ApiResponded]("ON_API_RESPONSE")
key_credit_use = Hook[FindCreditUse]("KEY_CREDIT_USE")
key_requests = Hook[CountRequests]("KEY_REQUESTS")
