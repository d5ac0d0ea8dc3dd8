"""What a request under /v1 learns on its way, and the types of these requests."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.http import HttpRequest
from rest_framework.authentication import BaseAuthentication
from rest_framework.negotiation import DefaultContentNegotiation
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
    """What a request under /v1 learns on its way. ApiMiddleware creates it as `request.call`."""

    request_id: str
    # The client's address, as seen by the outermost trusted proxy.
    ip: str
    # The key whose secret was sent, even if it's revoked or expired.
    sent_key: "ApiKey | None" = None
    # The same key, unless authentication refused it.
    valid_key: "ApiKey | None" = None
    # The bucket that the call consumed from; None until the throttle has run.
    rate_limit: "BucketState | None" = None
    # The credits that the account must have: set by the view before the 402 is checked.
    price: int = 0
    # The error code of a refusal, or "".
    refusal: str = ""
    # The sandbox simulates the refusal, so it doesn't count as one.
    is_sandbox: bool = False
    # Only for validations.
    verdict: str | None = None
    # The view has written the row itself, in the transaction of the charge.
    is_in_request_log: bool = False

    @property
    def key(self) -> "ApiKey":
        """Return the key of a call that passed HasApiKey."""
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
            # The same route for paths that end with a slash.
            get_route(request.resolver_match).removesuffix("/"),
            status,
            seconds,
            self.refusal,
            self.is_sandbox,
            self.verdict,
        )


class ApiHttpRequest(SiteRequest):
    """Django's request under /v1."""

    call: ApiCall


_UNUSED_NEGOTIATOR = DefaultContentNegotiation()


class ApiRequest(Request):
    """Django REST framework's request, as the views under /v1 get it."""

    _request: ApiHttpRequest

    def __init__(self, request: HttpRequest, authenticators: list[BaseAuthentication]) -> None:
        """Leave out parsers and content negotiation, because views read bodies themselves."""
        super().__init__(request, authenticators=authenticators, negotiator=_UNUSED_NEGOTIATOR)
        # For parsers. It would keep each request until a full garbage collection.
        del self.parser_context["request"]
        # Attributes of its own are faster than those of the wrapped request.
        self.method, self.META = request.method, request.META

    @property
    def call(self) -> ApiCall:
        return self._request.call

    @classmethod
    def of(cls, request: object) -> "ApiRequest":
        """Return the request with its type, for the methods that the framework calls."""
        if not isinstance(request, cls):
            raise TypeError("Only views that inherit from ApiView may use this.")
        return request
