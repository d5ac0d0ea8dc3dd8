"""The base class of views under /v1.

Checks run in the order 401, 429, 403, 404, 405, 406, 411, 413, 415, 400, 422, 402.
"""

from collections.abc import Callable, Sequence
from typing import NoReturn

from django.http import HttpRequest, HttpResponse
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request
from rest_framework.views import APIView

from apikeys.authentication.bearer import BearerAuthentication
from apikeys.authentication.permissions import (
    AccountIsNotSuspended,
    ApiPermission,
    HasApiKey,
    HasScope,
    IsFromAllowedNetwork,
    UsesHttps,
)
from apikeys.errors import ApiError
from apikeys.request import ApiRequest
from apikeys.rest.negotiation import accepts_json
from apikeys.rest.request_body import check_content_length, refuse_unknown_parameters
from apikeys.throttling.throttles import CallerThrottle
from runtime.database.account_slots import AccountBusy
from runtime.database.pool import connect_for_account


class ApiView(APIView):
    http_method_names = ["get", "head", "post", "put", "patch", "delete"]
    # The key's query joins these relations of the account.
    account_relations: tuple[str, ...] = ()
    # Errors are always JSON.
    returns_json = True
    # Metered calls have queues instead.
    uses_account_slots = True
    throttle_classes = [CallerThrottle]
    permission_classes = [
        HasApiKey,
        UsesHttps,
        IsFromAllowedNetwork,
        AccountIsNotSuspended,
        HasScope,
    ]
    # Last: 402, at the price that prepare() sets.
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
        # Only accepted requests count.
        call.key.record_use(call.ip)
        if self.uses_account_slots:
            self.take_connection()
        self.find_object()
        self.check_method()
        if self.returns_json and not accepts_json(request.META.get("HTTP_ACCEPT", "")):
            raise ApiError("not_acceptable")
        check_content_length(request.META)
        self.prepare()
        # The last of the 400s. Most requests have none.
        if request.META.get("QUERY_STRING"):
            handler = getattr(self, str(request.method).lower())
            refuse_unknown_parameters(request, getattr(handler, "query_parameters", ()))
        self.find_replay()
        for permission in self.billing_classes:
            permission().check(self.request)

    def prepare(self) -> None:
        """Read the body and set the price."""

    def find_replay(self) -> None:
        """Find a stored response, or raise a 422."""

    def authenticate_and_throttle(self, request: Request) -> None:
        """Failed authentication consumes from a bucket, too."""
        try:
            self.perform_authentication(request)
        except ApiError:
            self.check_throttles(request)
            raise
        self.check_throttles(request)

    def take_connection(self) -> None:
        try:
            connect_for_account(self.request.call.key.account_id)
        except AccountBusy:
            message = "Too many requests of your account are in progress. Nothing was charged."
            details = {"retry_after": 1, "charged": False}
            raise ApiError("service_unavailable", message, details=details) from None

    def find_object(self) -> None:
        """Find what the path names. A 404 precedes a 405."""

    def check_method(self) -> None:
        methods = self.allowed_methods
        if self.request.method not in methods:
            raise ApiError("method_not_allowed", headers={"Allow": ", ".join(methods)})

    def raise_uncaught_exception(self, exc: Exception) -> NoReturn:
        """The middleware responds, with DEBUG on or off."""
        raise exc

    @property
    def head(self) -> Callable[..., HttpResponse]:
        """Handle HEAD as GET. The method that Django would store in the view is a cycle."""
        # Raises AttributeError in views without GET.
        get: Callable[..., HttpResponse] = getattr(self, "get")  # noqa: B009 - not in this class
        return get

    @property
    def default_response_headers(self) -> dict[str, str]:
        return {}


class UnknownView(ApiView):
    """All other paths: 401, or 404 with a key."""

    schema = None

    def check_method(self) -> None:
        raise ApiError("not_found")
