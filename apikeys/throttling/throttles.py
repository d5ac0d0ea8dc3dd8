from collections.abc import Sequence
from dataclasses import replace

from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from apikeys.errors import ApiError
from apikeys.models import ApiKey
from apikeys.request import ApiCall, ApiRequest
from apikeys.throttling import limits
from apikeys.throttling.limits import WINDOW_SECONDS, Bucket, BucketState


class CallerThrottle(BaseThrottle):
    """Consume from the buckets of key and account.

    Without a valid key from an allowed network, consume from the address's bucket.
    """

    def allow_request(self, request: Request, view: APIView) -> bool:
        call = ApiRequest.of(request).call
        if call.valid_key is not None and call.valid_key.allows_ip(call.ip):
            call.rate_limit = _consume_for_key(request, call.valid_key)
        else:
            call.rate_limit = limits.consume(request, limits.address_bucket(call.ip))
        if call.rate_limit.refused:
            raise rate_limit_exceeded(call.rate_limit)
        return True


def _consume_for_key(request: Request, key: ApiKey) -> BucketState:
    """Consume from the account's bucket only if the key's isn't exhausted."""
    own_bucket = limits.key_bucket(key)
    own = limits.consume(request, own_bucket) if own_bucket else None
    if own is not None and own.refused:
        return own
    shared = limits.consume(request, limits.account_bucket(key.account))
    if own is None or shared.refused or shared.remaining < own.remaining:
        return shared
    return own


def consume_for_batch(call: ApiCall, size: int) -> None:
    key = call.key
    buckets = [limits.key_bucket(key), limits.account_bucket(key.account)]
    usage = consume_rest_of_batch([bucket for bucket in buckets if bucket is not None], size)
    if usage is None:
        return
    call.rate_limit = usage
    if usage.refused:
        raise rate_limit_exceeded(usage, needed=size - 1)


def consume_rest_of_batch(buckets: Sequence[Bucket], size: int) -> BucketState | None:
    """Consume from all buckets or none. Return None if there is only one address."""
    lowest = min(bucket.limit for bucket in buckets)
    if size > lowest:
        message = f"The batch has {size} addresses, and your rate limit is {lowest} per minute."
        details = {"limit": lowest}
        raise ApiError("batch_larger_than_limit", message, param="emails", details=details)
    if size == 1:
        return None
    fits, states = limits.consume_together(buckets, size - 1)
    lowest_state = min(states, key=lambda state: state.remaining)
    return replace(lowest_state, refused=not fits)


def rate_limit_exceeded(usage: BucketState, needed: int = 0) -> ApiError:
    """Return the 429. `needed`: the requests of a batch that didn't fit."""
    wait = usage.seconds_left
    return ApiError(
        "rate_limit_exceeded",
        f"Too many requests: the limit is {usage.limit} per minute. Try again in {wait} s.",
        details={
            "limit": usage.limit,
            "window": WINDOW_SECONDS,
            "retry_after": wait,
            "reset": usage.reset,
            **({"needed": needed} if needed else {}),
        },
    )
