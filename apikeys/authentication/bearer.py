"""Authenticate by `Authorization: Bearer svc_live_…`, never by URL, cookie or body."""

from functools import cache

from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from accounts.models import Account
from apikeys import crypto
from apikeys.errors import unauthorized
from apikeys.models import ApiKey, KeyLookup
from apikeys.request import ApiRequest
from runtime.logging import formatters


class BearerAuthentication(BaseAuthentication):
    def __init__(self, account_relations: tuple[str, ...] = ()) -> None:
        self.lookup = lookup_for(account_relations)

    def authenticate(self, request: Request) -> tuple[Account, ApiKey] | None:
        call = ApiRequest.of(request).call
        scheme, _, secret = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
        secret = secret.strip(" ")
        if scheme.lower() != "bearer" or not secret:
            return None
        key = find_key(secret, self.lookup)
        call.sent_key = key
        formatters.current_account_id.set(key.account.public_id)
        if key.is_revoked:
            raise unauthorized("api_key_revoked")
        if key.is_expired:
            raise unauthorized("api_key_expired")
        call.valid_key = key
        return key.account, key


@cache
def lookup_for(account_relations: tuple[str, ...]) -> KeyLookup:
    """Return the process's lookup, so that concurrent requests share its queries."""
    return KeyLookup(account_relations)


def find_key(secret: str, lookup: KeyLookup) -> ApiKey:
    """Return the key, without a query if the secret is mistyped."""
    key = lookup.find(secret) if crypto.is_well_formed(secret) else None
    if key is None:
        raise unauthorized("invalid_api_key")
    return key
