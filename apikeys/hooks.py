"""What the layers above do after a response of the API."""

from typing import Protocol

from apikeys.models import ApiKey
from apikeys.request import ApiHttpRequest
from runtime.hooks import Hook


class ApiResponded(Protocol):
    def __call__(
        self, *, request: ApiHttpRequest, key: ApiKey, status: int, duration_ms: int
    ) -> None: ...


on_api_response = Hook[ApiResponded]("ON_API_RESPONSE")
