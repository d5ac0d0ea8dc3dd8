"""The base class of the views under /v1.

Every operation checks a request in the same order, which differs from Django REST framework's: 401
and 429, 403, 404, 405, 406, 411, 413, 415, 400, 422, 402.
"""

from functools import cache
from typing import Any, NoReturn

from django.http import HttpResponseBase
from rest_framework.request import Request
from rest_framework.views import APIView

from apikeys.authentication import BearerAuthentication
from apikeys.errors import ApiError
from apikeys.permissions import (
    AccountIsNotSuspended,
    HasApiKey,
    IsFromAllowedNetwork,
    UsesHttps,
)
from apikeys.request import ApiHttpRequest, get_api_key, http_request
from apikeys.rest.negotiation import accepts_json
from apikeys.rest.request_body import check_content_length, refuse_unknown_parameters
from apikeys.throttling.limits import WINDOW_SECONDS
from apikeys.throttling.throttles import CallerThrottle


class ApiView(APIView):
    # Relations of the account that the view needs. The key's query joins them.
    account_relations: tuple[str, ...] = ()
    # Any other query parameter is an error.
    query_parameters: tuple[str, ...] = ()
    throttle_classes = [CallerThrottle]
    permission_classes = [HasApiKey, UsesHttps, IsFromAllowedNetwork, AccountIsNotSuspended]
    # Permissions checked last, once prepare() has determined the price: 402.
    billing_classes: list[Any] = []

    def get_authenticators(self) -> list[Any]:
        return [BearerAuthentication(self.account_relations)]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        self.authenticate_and_throttle(request)
        self.check_permissions(request)
        # Refused requests don't count as a use of the key.
        get_api_key(request).record_use(http_request(request).ip)
        self.check_method(request)
        if not accepts_json(request.META.get("HTTP_ACCEPT", "")):
            raise ApiError("not_acceptable")
        check_content_length(request.META)
        self.prepare(request)
        # Most requests have no query string to parse. Its error is the last of the 400s.
        if request.META.get("QUERY_STRING"):
            refuse_unknown_parameters(request, self.query_parameters)
        self.find_replay(request)
        for permission in self.billing_classes:
            if not permission().has_permission(request, self):
                self.permission_denied(request)

    def prepare(self, request: Request) -> None:
        """Read the body and determine the price. Views that take a body override it."""

    def find_replay(self, request: Request) -> None:
        """Find a stored response, or raise a 422. Views with an Idempotency-Key override it."""

    def price(self, request: Request) -> int:
        """Return the credits that the request costs."""
        return 0

    def authenticate_and_throttle(self, request: Request) -> None:
        """Consume from a bucket before reporting a 401: failed authentication counts as well."""
        refusal = None
        try:
            self.perform_authentication(request)
        except ApiError as error:
            refusal = error
        http_request(request).key = get_api_key(request) if request.auth else None
        self.check_throttles(request)
        if refusal is not None:
            raise refusal

    def throttled(self, request: Request, wait: float | None) -> NoReturn:
        raise rate_limit_exceeded(http_request(request))

    def check_method(self, request: Request) -> None:
        view: Any = type(self)
        methods = _allowed_methods(view)
        if request.method not in methods:
            raise ApiError("method_not_allowed", headers={"Allow": ", ".join(methods)})

    def raise_uncaught_exception(self, exc: Exception) -> NoReturn:
        """Leave the response to the middleware, which sends the same one with DEBUG on or off."""
        raise exc

    def finalize_response(
        self, request: Request, response: HttpResponseBase, *args: Any, **kwargs: Any
    ) -> Any:
        return response


@cache
def _allowed_methods(view: Any) -> list[str]:
    """Return the view's methods: HEAD wherever GET works, but no OPTIONS, as there is no CORS."""
    handlers = {"head": "get"}
    names = ("get", "head", "post", "put", "patch", "delete")
    return [name.upper() for name in names if hasattr(view, handlers.get(name, name))]


def rate_limit_exceeded(request: ApiHttpRequest) -> ApiError:
    usage: Any = request.usage
    wait = usage.seconds_left
    return ApiError(
        "rate_limit_exceeded",
        f"Too many requests: {usage.limit} a minute are allowed. Try again in {wait} s.",
        details={
            "limit": usage.limit,
            "window": WINDOW_SECONDS,
            "retry_after": wait,
            "reset": usage.reset,
        },
    )


class UnknownView(ApiView):
    """Handle all other paths under /v1: 401 without a valid key, 404 with one."""

    schema = None

    def check_method(self, request: Request) -> None:
        raise ApiError("not_found")
