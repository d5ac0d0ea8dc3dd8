"""The attributes that the middleware and the base view set on an API request."""

from typing import TYPE_CHECKING, cast

from rest_framework.request import Request

from accounts.request import SiteRequest

if TYPE_CHECKING:
    from apikeys.models import ApiKey
    from apikeys.throttling.limits import BucketState


class ApiHttpRequest(SiteRequest):
    # For the X-RateLimit headers; None until the throttle has run.
    usage: "BucketState | None"
    key: "ApiKey | None"
    # The key whose secret was sent, even if it's revoked or expired.
    known_key: "ApiKey | None"
    # Sandbox requests ask for a certain error, so they don't count as refused.
    is_sandbox: bool
    # The view has written the request log itself.
    in_request_log: bool
    # Only for validations.
    verdict: str | None


def http_request(request: Request) -> ApiHttpRequest:
    """Return the Django request inside Django REST framework's."""
    return cast(ApiHttpRequest, request._request)


def get_api_key(request: Request) -> "ApiKey":
    """Return the key of a request that passed the permission checks."""
    return cast("ApiKey", request.auth)
