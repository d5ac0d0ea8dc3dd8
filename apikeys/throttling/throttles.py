from typing import Any

from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from apikeys.models import ApiKey
from apikeys.request import ApiHttpRequest, http_request
from apikeys.throttling import limits
from apikeys.throttling.limits import BucketState


class CallerThrottle(BaseThrottle):
    """Consume from the buckets of a valid key and its account, or from the caller's address.

    A key used from a network it doesn't allow consumes from the address's bucket.
    """

    def allow_request(self, request: Request, view: Any) -> bool:
        api_request = http_request(request)
        key = api_request.key
        if key is not None and key.allows(api_request.ip):
            usage = self._consume_for_key(api_request, key)
        else:
            usage = limits.consume(api_request, limits.address_bucket(api_request.ip))
        api_request.usage = usage
        return not usage.refused

    @staticmethod
    def _consume_for_key(request: ApiHttpRequest, key: ApiKey) -> BucketState:
        """Consume from the key's bucket, then, unless that is exhausted, from the account's."""
        own_bucket = limits.key_bucket(key)
        own = limits.consume(request, own_bucket) if own_bucket else None
        if own is not None and own.refused:
            return own
        shared = limits.consume(request, limits.account_bucket(key.account))
        if own is None or shared.refused or shared.remaining < own.remaining:
            return shared
        return own
