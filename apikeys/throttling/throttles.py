from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from apikeys.errors import ApiError
from apikeys.models import ApiKey
from apikeys.request import ApiRequest
from apikeys.throttling import limits
from apikeys.throttling.limits import WINDOW_SECONDS, BucketState


class CallerThrottle(BaseThrottle):
    """Consume from the buckets of a valid key and its account, or from the caller's address.

    A key used from a network it doesn't allow consumes from the address's bucket.
    """

    def allow_request(self, request: Request, view: APIView) -> bool:
        call = ApiRequest.of(request).call
        if call.valid_key is not None and call.valid_key.allows(call.ip):
            call.rate_limit = _consume_for_key(request, call.valid_key)
        else:
            call.rate_limit = limits.consume(request, limits.address_bucket(call.ip))
        if call.rate_limit.refused:
            raise rate_limit_exceeded(call.rate_limit)
        return True


def _consume_for_key(request: Request, key: ApiKey) -> BucketState:
    """Consume from the key's bucket, then, unless that is exhausted, from the account's."""
    own_bucket = limits.key_bucket(key)
    own = limits.consume(request, own_bucket) if own_bucket else None
    if own is not None and own.refused:
        return own
    shared = limits.consume(request, limits.account_bucket(key.account))
    if own is None or shared.refused or shared.remaining < own.remaining:
        return shared
    return own


def rate_limit_exceeded(usage: BucketState) -> ApiError:
    wait = usage.seconds_left
    return ApiError(
        "rate_limit_exceeded",
        f"Too many requests: the limit is {usage.limit} per minute. Try again in {wait} s.",
        details={
            "limit": usage.limit,
            "window": WINDOW_SECONDS,
            "retry_after": wait,
            "reset": usage.reset,
        },
    )
