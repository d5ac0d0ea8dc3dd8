"""The base of every view under /v1.

A request is judged in one order, whatever it asks for: 401 and 429, 403, 404, 405, 406, 411, 413,
415, 400, 422, 402. Django REST framework's own order is another one.
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
    CameFromAllowedNetwork,
    CameOverHttps,
    HasApiKey,
)
from apikeys.request import ApiHttpRequest, api_key_of, http_request
from apikeys.rest.negotiation import accepts_json
from apikeys.rest.request_body import refuse_length, refuse_unknown_parameters
from apikeys.throttling.limits import WINDOW_SECONDS
from apikeys.throttling.throttles import CallerThrottle


class ApiView(APIView):
    # What a view of an upper floor wants to know of the account: read with the key, in one query.
    reads: tuple[str, ...] = ()
    # The names of the query parameters the operation takes: any other is refused.
    query_parameters: tuple[str, ...] = ()
    throttle_classes = [CallerThrottle]
    permission_classes = [HasApiKey, CameOverHttps, CameFromAllowedNetwork, AccountIsNotSuspended]
    # Judged last, when the body is read and the price is known: 402.
    billing_classes: list[Any] = []

    def get_authenticators(self) -> list[Any]:
        return [BearerAuthentication(self.reads)]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        self.authenticate_and_count(request)
        self.check_permissions(request)
        # Only what was let in is a use.
        api_key_of(request).note_use(http_request(request).ip)
        self.check_method(request)
        if not accepts_json(request.META.get("HTTP_ACCEPT", "")):
            raise ApiError("not_acceptable")
        refuse_length(request.META)
        self.prepare(request)
        # The last of the codes with status 400; most requests have no query string to parse.
        if request.META.get("QUERY_STRING"):
            refuse_unknown_parameters(request, self.query_parameters)
        self.find_replay(request)
        for permission in self.billing_classes:
            if not permission().has_permission(request, self):
                self.permission_denied(request)

    def prepare(self, request: Request) -> None:
        """For views that take a body: read it, and find out what the request will cost."""

    def find_replay(self, request: Request) -> None:
        """For views that take an Idempotency-Key: finds the stored response, or raises a 422."""

    def price(self, request: Request) -> int:
        return 0

    def authenticate_and_count(self, request: Request) -> None:
        """A failed authentication spends its address's bucket before it is told so."""
        refusal = None
        try:
            self.perform_authentication(request)
        except ApiError as error:
            refusal = error
        http_request(request).key = api_key_of(request) if request.auth else None
        self.check_throttles(request)
        if refusal is not None:
            raise refusal

    def throttled(self, request: Request, wait: float | None) -> NoReturn:
        raise rate_limit_exceeded(http_request(request))

    def check_method(self, request: Request) -> None:
        view: Any = type(self)
        methods = _methods_of(view)
        if request.method not in methods:
            raise ApiError("method_not_allowed", headers={"Allow": ", ".join(methods)})

    def raise_uncaught_exception(self, exc: Exception) -> NoReturn:
        """The middleware answers it, in the same way whether DEBUG is on or off."""
        raise exc

    def finalize_response(
        self, request: Request, response: HttpResponseBase, *args: Any, **kwargs: Any
    ) -> Any:
        return response


@cache
def _methods_of(view: Any) -> list[str]:
    """OPTIONS is none of them: there is no page in a browser to ask for. What can be got, Django
    lets be asked for its head."""
    own = {"head": "get"}
    names = ("get", "head", "post", "put", "patch", "delete")
    return [name.upper() for name in names if hasattr(view, own.get(name, name))]


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
    """Every other path under /v1: without a key it does not even tell that nothing is there."""

    schema = None

    def check_method(self, request: Request) -> None:
        raise ApiError("not_found")
