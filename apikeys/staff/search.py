"""Find keys in the admin. Of a secret, only its digest leaves this module."""

import re

from django.db.models import Q

from accounts.staff.links import account_link, admin_link
from accounts.staff.panels import MAX_ROWS, Hit, SearchResults, require_staff_permissions
from apikeys import crypto
from apikeys.models import ApiKey, ApiKeyQuerySet, KeyLookup

_FOUR = r"[0-9A-Za-z]{4}"
# A masked key, as pages show it or people retype it.
_MASK = re.compile(rf"(?:{crypto.PREFIX})?({_FOUR})(?:…|\.{{2,3}}|\*+|-)({_FOUR})", re.IGNORECASE)
_SECRET = re.compile(
    rf"(?:{crypto.PREFIX})?([0-9A-Za-z]{{{crypto.RANDOM_LENGTH + crypto.CHECKSUM_LENGTH}}})",
    re.IGNORECASE,
)
_BEGINNING = re.compile(rf"{crypto.PREFIX}({_FOUR})", re.IGNORECASE)


@require_staff_permissions("apikeys.view_apikey", "accounts.view_account")
def find_keys(text: str) -> SearchResults:
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
    """Find the key in a pasted line, or keys that resemble it."""
    for match in _SECRET.finditer(text):
        key = KeyLookup().find(crypto.PREFIX + match[1])
        if key is not None:
            return _findings(ApiKey.objects.filter(pk=key.pk), are_exact=True)
    if mask := _MASK.search(text):
        return _findings(ApiKey.objects.with_mask(mask[1], mask[2]), are_exact=True)
    # The key is truncated or mistyped.
    if beginning := _BEGINNING.search(text):
        return _findings(ApiKey.objects.filter(first_four=beginning[1]), are_exact=False)
    return SearchResults("API keys", [])


def _findings(keys: ApiKeyQuerySet, *, are_exact: bool) -> SearchResults:
    keys = keys.select_related("account")[:MAX_ROWS]
    return SearchResults(
        "API keys",
        [
            Hit(
                admin_link(key),
                key.public_id + ("" if key.is_active else f", {key.state.lower()}"),
                [account_link(key.account)],
                are_exact,
            )
            for key in keys
        ],
    )
