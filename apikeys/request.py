from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.http import HttpRequest
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from accounts.request import SiteRequest
from apikeys.errors import ApiError
from runtime.logging.access_log import AccessRecord
from runtime.logging.routes import get_route

if TYPE_CHECKING:
    from apikeys.models import ApiKey
    from apikeys.throttling.limits import BucketState


@dataclass(slots=True)
class ApiCall:
    """The state of a request, `request.call`."""

    request_id: str
    # As seen by the outermost trusted proxy.
    ip: str
    # The key may be revoked or expired.
    sent_key: "ApiKey | None" = None
    # None if authentication refused the key.
    valid_key: "ApiKey | None" = None
    rate_limit: "BucketState | None" = None
    # Set by the view before the 402 is checked.
    price: int = 0
    refusal: str = ""
    # The sandbox simulates the refusal, so it doesn't count.
    is_sandbox: bool = False
    verdict: str | None = None
    # The view wrote the row in the charge's transaction.
    is_in_request_log: bool = False

    @property
    def key(self) -> "ApiKey":
        """Return the key, after HasApiKey."""
        if self.valid_key is None:
            raise RuntimeError("The call has no valid key.")
        return self.valid_key

    def refuse(self, error: ApiError) -> None:
        self.refusal, self.is_sandbox = error.code, error.is_sandbox

    def access_record(
        self, request: "ApiHttpRequest", *, at: float, status: int, seconds: float
    ) -> AccessRecord:
        key = self.sent_key
        return AccessRecord(
            at,
            "api",
            self.request_id,
            key.account.public_id if key else None,
            key.public_id if key else None,
            self.ip,
            request.method or "",
            # Paths with a slash at the end have the same route.
            get_route(request.resolver_match).removesuffix("/"),
            status,
            seconds,
            self.refusal,
            self.is_sandbox,
            self.verdict,
        )


class ApiHttpRequest(SiteRequest):
    call: ApiCall


class ApiRequest(Request):
    """REST framework's request in views under /v1."""

    _request: ApiHttpRequest

    def __init__(self, request: HttpRequest, authenticators: list[BaseAuthentication]) -> None:
        super().__init__(request, authenticators=authenticators)
        # A cycle would keep the request and its body until a garbage collection.
        del self.parser_context["request"]

    @property
    def call(self) -> ApiCall:
        return self._request.call

    @classmethod
    def of(cls, request: object) -> "ApiRequest":
        """Narrow the type that REST framework passes to methods."""
        if not isinstance(request, cls):
            raise TypeError("Only views that inherit from ApiView may use this.")
        return request
