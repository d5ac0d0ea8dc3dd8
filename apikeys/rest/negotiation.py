"""Content negotiation: the Accept and Content-Type headers."""

import re
from collections.abc import Mapping
from email.message import Message
from functools import lru_cache

from apikeys.errors import ApiError

_ZERO_WEIGHT = re.compile(r"q\s*=\s*0(\.0*)?")
_SPECIFICITY = {"application/json": 3, "application/*": 2, "*/*": 1}


def accepts_json(accept: str) -> bool:
    """Apply RFC 9110, 12.5.1: the most specific range decides, and a weight of 0 excludes."""
    if not accept.strip():
        return True
    best, accepted = 0, False
    for part in accept.split(","):
        media_range, *parameters = (piece.strip().lower() for piece in part.split(";"))
        rank = _SPECIFICITY.get(media_range, 0)
        if rank >= max(best, 1):
            is_wanted = not any(_is_zero_weight(parameter) for parameter in parameters)
            accepted = is_wanted or (accepted and rank == best)
            best = rank
    return accepted


def _is_zero_weight(parameter: str) -> bool:
    return _ZERO_WEIGHT.fullmatch(parameter) is not None


def check_media_type(meta: Mapping[str, str]) -> None:
    """Raise unless the body is uncompressed JSON in UTF-8, as RFC 8259, 8.1 requires."""
    if read_media_type(meta) != "application/json":
        raise ApiError("unsupported_media_type")
    _, charsets = _parse_content_type(meta.get("CONTENT_TYPE", ""))
    if not charsets <= {"utf-8", "utf8"}:
        raise ApiError("invalid_json", "The body must be in UTF-8. Omit the charset.")


def read_media_type(meta: Mapping[str, str]) -> str:
    """Return the body's media type in lower case. Raise if the body is compressed."""
    if meta.get("HTTP_CONTENT_ENCODING", "identity").strip().lower() not in {"", "identity"}:
        raise ApiError("unsupported_media_type")
    return _parse_content_type(meta.get("CONTENT_TYPE", ""))[0]


@lru_cache(maxsize=64)
def _parse_content_type(content_type: str) -> tuple[str, frozenset[str]]:
    """Return the media type and the charsets. Cached, as clients send the same few values."""
    message = Message()
    message["Content-Type"] = content_type
    parameters = message.get_params([])
    charsets = (str(value) for name, value in parameters if name.lower() == "charset")
    return message.get_content_type(), frozenset(charset.strip().lower() for charset in charsets)
