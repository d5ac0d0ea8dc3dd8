"""What staff find of keys from the one box of the admin.

Of a secret that is pasted there nothing but its digest goes further than this.
"""

import re

from django.db.models import Q

from accounts.staff.panels import MAX_ROWS, Findings, Hit, link_to, require_staff_permissions
from apikeys import crypto
from apikeys.models import ApiKey, ApiKeyQuerySet, KeyLookup

_PART = r"[0-9A-Za-z]{4}"
# As our pages draw a key, or as people retype it.
_MASK = re.compile(rf"(?:{crypto.PREFIX})?({_PART})(?:…|\.{{2,3}}|\*+|-)({_PART})", re.IGNORECASE)
_SECRET = re.compile(
    rf"(?:{crypto.PREFIX})?([0-9A-Za-z]{{{crypto.RANDOM_LENGTH + crypto.CHECKSUM_LENGTH}}})",
    re.IGNORECASE,
)
_BEGINNING = re.compile(rf"{crypto.PREFIX}({_PART})", re.IGNORECASE)


@require_staff_permissions("apikeys.view_apikey", "accounts.view_account")
def find_keys(text: str) -> Findings:
    """By what people may know of a key: its id, its mask, or four characters of it."""
    if mask := _MASK.fullmatch(text):
        return _findings(ApiKey.objects.with_ends(mask[1], mask[2]), are_exact=True)
    if text.startswith("key_"):
        return _findings(ApiKey.objects.filter(public_id=text), are_exact=True)
    if re.fullmatch(_PART, text):
        ends = Q(first_four=text) | Q(last_four=text)
        return _findings(ApiKey.objects.filter(ends), are_exact=False)
    return Findings("API keys", [])


@require_staff_permissions("apikeys.view_apikey", "accounts.view_account")
def find_pasted_key(text: str) -> Findings:
    """For a text that holds a key, or a part of one. It may be a whole line of somebody's file."""
    for found in _SECRET.finditer(text):
        key = KeyLookup().find(crypto.PREFIX + found[1])
        if key is not None:
            return _findings(ApiKey.objects.filter(pk=key.pk), are_exact=True)
    if mask := _MASK.search(text):
        return _findings(ApiKey.objects.with_ends(mask[1], mask[2]), are_exact=True)
    # One that was cut or mistyped: those that begin like it.
    if beginning := _BEGINNING.search(text):
        return _findings(ApiKey.objects.filter(first_four=beginning[1]), are_exact=False)
    return Findings("API keys", [])


def _findings(keys: ApiKeyQuerySet, *, are_exact: bool) -> Findings:
    found = keys.select_related("account")[:MAX_ROWS]
    return Findings(
        "API keys",
        [Hit(link_to(key), _state(key), [link_to(key.account)], are_exact) for key in found],
    )


def _state(key: ApiKey) -> str:
    if key.is_revoked:
        return f"{key.public_id}, revoked"
    return f"{key.public_id}, expired" if key.is_expired else key.public_id
