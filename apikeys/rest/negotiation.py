"""Media types: what the client can read, and what it sent. Pure but for the error."""

import re
from collections.abc import Mapping
from email.message import Message
from functools import lru_cache
from typing import Any

from apikeys.errors import ApiError

_WEIGHT_OF_ZERO = re.compile(r"q\s*=\s*0(\.0*)?")
_OURS = {"application/json": 3, "application/*": 2, "*/*": 1}


def accepts_json(accept: str) -> bool:
    """RFC 9110, 12.5.1: the most specific range decides, and a weight of 0 means no."""
    if not accept.strip():
        return True
    best, accepted = 0, False
    for part in accept.split(","):
        media_range, *parameters = (piece.strip().lower() for piece in part.split(";"))
        rank = _OURS.get(media_range, 0)
        if rank >= max(best, 1):
            weighed = not any(_is_zero(parameter) for parameter in parameters)
            accepted = weighed or (accepted and rank == best)
            best = rank
    return accepted


def _is_zero(parameter: str) -> bool:
    return _WEIGHT_OF_ZERO.fullmatch(parameter) is not None


def refuse_media_type(meta: Mapping[str, Any]) -> None:
    """JSON in UTF-8, as it is. Another charset makes it no JSON: RFC 8259, 8.1."""
    media_type, charsets = _media_type(meta.get("CONTENT_TYPE", ""))
    coding = str(meta.get("HTTP_CONTENT_ENCODING", "identity")).strip().lower()
    if media_type != "application/json" or coding not in {"", "identity"}:
        raise ApiError("unsupported_media_type")
    if not charsets <= {"utf-8", "utf8"}:
        raise ApiError("invalid_json", "The body must be in UTF-8: leave the charset out.")


@lru_cache(maxsize=64)
def _media_type(content_type: str) -> tuple[str, frozenset[str]]:
    """And the charsets it names. Clients say the same again and again."""
    message = Message()
    message["Content-Type"] = content_type
    parameters = message.get_params([])
    charsets = (str(value) for name, value in parameters if name.lower() == "charset")
    return message.get_content_type(), frozenset(one.strip().lower() for one in charsets)
