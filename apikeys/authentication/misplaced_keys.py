"""The 401 without a Bearer token. It says where else a key was sent.

A misplaced key is never accepted, looked up, or repeated.
"""

from base64 import b64decode
from collections.abc import Mapping
from urllib.parse import unquote_plus

from apikeys.crypto import PREFIX
from apikeys.errors import ApiError, unauthorized

_CURE = "Send it as `Authorization: Bearer <API key>`."
_URLS_ARE_LOGGED = "URLs are logged, so replace that key and send the new one as "
MESSAGES = {
    "x_api_key_header": f"An API key was sent in the X-API-Key header. {_CURE}",
    "api_key_header": f"An API key was sent in the Api-Key header. {_CURE}",
    "http_basic": f"An API key was sent with HTTP Basic authentication. {_CURE}",
    "authorization_header": "An API key was sent in the Authorization header without the Bearer "
    f"scheme. {_CURE}",
    "query_string": f"An API key was sent in the query string. {_URLS_ARE_LOGGED}"
    "`Authorization: Bearer <API key>`.",
}


def missing_api_key(meta: Mapping[str, str]) -> ApiError:
    """Return the 401. `meta`: the WSGI variables."""
    error = unauthorized("missing_api_key")
    place = _find_misplaced_key(meta)
    if place is not None:
        error.message, error.details = MESSAGES[place], {"key_seen_in": place}
    return error


def _find_misplaced_key(meta: Mapping[str, str]) -> str | None:
    if _contains_key(meta.get("HTTP_X_API_KEY")):
        return "x_api_key_header"
    if _contains_key(meta.get("HTTP_API_KEY")):
        return "api_key_header"
    if authorization := meta.get("HTTP_AUTHORIZATION"):
        if _contains_key(authorization):
            return "authorization_header"
        if _contains_key(_basic_credentials(authorization)):
            return "http_basic"
    query = meta.get("QUERY_STRING")
    return "query_string" if query and _contains_key(unquote_plus(query)) else None


def _contains_key(text: str | None) -> bool:
    return text is not None and PREFIX in text.lower()


def _basic_credentials(authorization: str) -> str:
    scheme, _, credentials = authorization.partition(" ")
    if scheme.lower() != "basic":
        return ""
    try:
        return b64decode(credentials).decode("latin-1")
    except ValueError:
        return ""
