"""`Authorization: Bearer svc_live_…`, and nowhere else: no address, cookie or body is looked at."""

from functools import cache

from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from accounts.models import Account
from apikeys import crypto
from apikeys.errors import unauthorized
from apikeys.models import ApiKey, KeyLookup
from apikeys.request import http_request
from runtime.logging import formatters


class BearerAuthentication(BaseAuthentication):
    def __init__(self, reads: tuple[str, ...] = ()) -> None:
        """`reads`: what else of the account is wanted, in the same query."""
        self.lookup = lookup_of(reads)

    def authenticate(self, request: Request) -> tuple[Account, ApiKey] | None:
        scheme, _, secret = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
        secret = secret.strip(" ")
        if scheme.lower() != "bearer" or not secret:
            return None
        key = find_key(secret, self.lookup)
        http_request(request).known_key = key
        formatters.account_id.set(key.account.public_id)
        refuse_ended(key)
        return key.account, key


@cache
def lookup_of(reads: tuple[str, ...]) -> KeyLookup:
    """One for all requests of this process: those that come at once ask together."""
    return KeyLookup(reads)


def find_key(secret: str, lookup: KeyLookup) -> ApiKey:
    """A mistyped key asks no database; any other asks it once, whatever is wrong with it."""
    key = lookup.find(secret) if crypto.is_well_formed(secret) else None
    if key is None:
        raise unauthorized("invalid_api_key")
    return key


def refuse_ended(key: ApiKey) -> None:
    if key.is_revoked:
        raise unauthorized("api_key_revoked")
    if key.is_expired:
        raise unauthorized("api_key_expired")
