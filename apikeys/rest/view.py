"""The base class of the views under /v1.

Every operation checks a request in the same order, which differs from Django REST framework's: 401
and 429, 403, 404, 405, 406, 411, 413, 415, 400, 422, 402.
"""

from collections.abc import Callable, Sequence
from typing import NoReturn

from django.http import HttpRequest, HttpResponse
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request
from rest_framework.views import APIView

from apikeys.authentication import BearerAuthentication
from apikeys.errors import ApiError
from apikeys.permissions import (
    AccountIsNotSuspended,
    ApiPermission,
    HasApiKey,
    IsFromAllowedNetwork,
    UsesHttps,
)
from apikeys.request import ApiRequest
from apikeys.rest.negotiation import accepts_json
from apikeys.rest.request_body import check_content_length, refuse_unknown_parameters
from apikeys.throttling.throttles import CallerThrottle


class ApiView(APIView):
    # Those that a view has handlers for; Django adds HEAD wherever GET works. There is no OPTIONS,
    # as there is no CORS.
    http_method_names = ["get", "head", "post", "put", "patch", "delete"]
    # Relations of the account that the view needs. The key's query joins them.
    account_relations: tuple[str, ...] = ()
    # Any other query parameter is an error.
    query_parameters: tuple[str, ...] = ()
    # Whether the Accept header must allow JSON. Errors are JSON in any case.
    returns_json = True
    throttle_classes = [CallerThrottle]
    permission_classes = [HasApiKey, UsesHttps, IsFromAllowedNetwork, AccountIsNotSuspended]
    # Permissions checked last, once prepare() has determined the price: 402.
    billing_classes: Sequence[type[ApiPermission]] = ()

    request: ApiRequest

    def get_authenticators(self) -> list[BaseAuthentication]:
        return [BearerAuthentication(self.account_relations)]

    def initialize_request(
        self, request: HttpRequest, *args: object, **kwargs: object
    ) -> ApiRequest:
        return ApiRequest(request, self.get_authenticators())

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        self.authenticate_and_throttle(request)
        self.check_permissions(request)
        call = self.request.call
        # Refused requests don't count as a use of the key.
        call.key.record_use(call.ip)
        self.check_method()
        if self.returns_json and not accepts_json(request.META.get("HTTP_ACCEPT", "")):
            raise ApiError("not_acceptable")
        check_content_length(request.META)
        self.prepare()
        # Most requests have no query string to parse. Its error is the last of the 400s.
        if request.META.get("QUERY_STRING"):
            refuse_unknown_parameters(request, self.accepted_parameters())
        self.find_replay()
        for permission in self.billing_classes:
            permission().check(self.request)

    def prepare(self) -> None:
        """Read the body and set the call's price. Views that take a body override it."""

    def accepted_parameters(self) -> tuple[str, ...]:
        """Return the query parameters of this method. Views with several methods override it."""
        return self.query_parameters

    def find_replay(self) -> None:
        """Find a stored response, or raise a 422. Views with an Idempotency-Key override it."""

    def authenticate_and_throttle(self, request: Request) -> None:
        """Consume from a bucket before reporting a 401: failed authentication counts as well."""
        try:
            self.perform_authentication(request)
        except ApiError:
            self.check_throttles(request)
            raise
        self.check_throttles(request)

    def check_method(self) -> None:
        methods = self.allowed_methods
        if self.request.method not in methods:
            raise ApiError("method_not_allowed", headers={"Allow": ", ".join(methods)})

    def raise_uncaught_exception(self, exc: Exception) -> NoReturn:
        """Leave the response to the middleware, which sends the same one with DEBUG on or off."""
        raise exc

    @property
    def head(self) -> Callable[..., HttpResponse]:
        """Handle HEAD as GET, in views that have it.

        Django stores the method in the view. As a method refers to its view, each of them would
        stay, with its request and response, until a full garbage collection.
        """
        # Raises AttributeError in views without it, so that these have no HEAD either.
        get: Callable[..., HttpResponse] = getattr(self, "get")  # noqa: B009 - not in this class
        return get

    @property
    def default_response_headers(self) -> dict[str, str]:
        """Return none: responses are created with theirs."""
        return {}


class UnknownView(ApiView):
    """Handle all other paths under /v1: 401 without a valid key, 404 with one."""

    schema = None

    def check_method(self) -> None:
        raise ApiError("not_found")
