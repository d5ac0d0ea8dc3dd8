"""Find keys from the admin's search box.

If staff paste a secret, only its digest leaves this module.
"""

import re

from django.db.models import Q

from accounts.staff.panels import (
    MAX_ROWS,
    Hit,
    SearchResults,
    admin_link,
    require_staff_permissions,
)
from apikeys import crypto
from apikeys.models import ApiKey, ApiKeyQuerySet, KeyLookup

_FOUR = r"[0-9A-Za-z]{4}"
# A masked key as pages show it, or as people retype it.
_MASK = re.compile(rf"(?:{crypto.PREFIX})?({_FOUR})(?:…|\.{{2,3}}|\*+|-)({_FOUR})", re.IGNORECASE)
_SECRET = re.compile(
    rf"(?:{crypto.PREFIX})?([0-9A-Za-z]{{{crypto.RANDOM_LENGTH + crypto.CHECKSUM_LENGTH}}})",
    re.IGNORECASE,
)
_BEGINNING = re.compile(rf"{crypto.PREFIX}({_FOUR})", re.IGNORECASE)


@require_staff_permissions("apikeys.view_apikey", "accounts.view_account")
def find_keys(text: str) -> SearchResults:
    """Find keys by id, masked key, or their first or last four characters."""
    if mask := _MASK.fullmatch(text):
        return _findings(ApiKey.objects.with_mask(mask[1], mask[2]), are_exact=True)
    if text.startswith("key_"):
        return _findings(ApiKey.objects.filter(public_id=text), are_exact=True)
    if re.fullmatch(_FOUR, text):
        ends = Q(first_four=text) | Q(last_four=text)
        return _findings(ApiKey.objects.filter(ends), are_exact=False)
    return SearchResults("API keys", [])


@require_staff_permissions("apikeys.view_apikey", "accounts.view_account")
def find_pasted_key(text: str) -> SearchResults:
    """Find the key in a text such as a line of a configuration file, or keys that resemble it."""
    for match in _SECRET.finditer(text):
        key = KeyLookup().find(crypto.PREFIX + match[1])
        if key is not None:
            return _findings(ApiKey.objects.filter(pk=key.pk), are_exact=True)
    if mask := _MASK.search(text):
        return _findings(ApiKey.objects.with_mask(mask[1], mask[2]), are_exact=True)
    # A truncated or mistyped key: find the keys that begin the same way.
    if beginning := _BEGINNING.search(text):
        return _findings(ApiKey.objects.filter(first_four=beginning[1]), are_exact=False)
    return SearchResults("API keys", [])


def _findings(keys: ApiKeyQuerySet, *, are_exact: bool) -> SearchResults:
    keys = keys.select_related("account")[:MAX_ROWS]
    return SearchResults(
        "API keys",
        [Hit(admin_link(key), _state(key), [admin_link(key.account)], are_exact) for key in keys],
    )


def _state(key: ApiKey) -> str:
    if key.is_revoked:
        return f"{key.public_id}, revoked"
    return f"{key.public_id}, expired" if key.is_expired else key.public_id
