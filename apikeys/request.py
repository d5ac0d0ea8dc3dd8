"""A request of the API, as our middleware and the base view leave it."""

from typing import TYPE_CHECKING, cast

from rest_framework.request import Request

from accounts.request import SiteRequest

if TYPE_CHECKING:
    from apikeys.models import ApiKey
    from apikeys.throttling.limits import BucketState


class ApiHttpRequest(SiteRequest):
    # What the X-RateLimit headers say; None until a bucket was asked.
    usage: "BucketState | None"
    key: "ApiKey | None"
    # The one whose secret was sent, also when it is no longer valid.
    known_key: "ApiKey | None"
    # It was asked for, in the sandbox: it tells of no fault.
    is_sandbox: bool
    # The view wrote a row of the request log itself.
    in_request_log: bool
    # Of a validation.
    verdict: str | None


def http_request(request: Request) -> ApiHttpRequest:
    """What Django REST framework has wrapped."""
    return cast(ApiHttpRequest, request._request)


def api_key_of(request: Request) -> "ApiKey":
    """The key of a request that got past the permissions."""
    return cast("ApiKey", request.auth)
