import re
from collections.abc import Mapping
from email.message import Message
from functools import lru_cache

from apikeys.errors import ApiError

_ZERO_WEIGHT = re.compile(r"q\s*=\s*0(\.0*)?")
_SPECIFICITY = {"application/json": 3, "application/*": 2, "*/*": 1}


def accepts_json(accept: str) -> bool:
    """RFC 9110, 12.5.1: the most specific range decides; weight 0 excludes."""
    if not accept.strip():
        return True
    best, accepted = 0, False
    for part in accept.split(","):
        media_range, *parameters = (piece.strip().lower() for piece in part.split(";"))
        rank = _SPECIFICITY.get(media_range, 0)
        if rank >= max(best, 1):
            is_wanted = not any(_ZERO_WEIGHT.fullmatch(parameter) for parameter in parameters)
            accepted = is_wanted or (accepted and rank == best)
            best = rank
    return accepted


def check_media_type(meta: Mapping[str, str]) -> None:
    """RFC 8259, 8.1: JSON in UTF-8, uncompressed."""
    if read_media_type(meta) != "application/json":
        raise ApiError("unsupported_media_type")
    _, charsets = _parse_content_type(meta.get("CONTENT_TYPE", ""))
    if not charsets <= {"utf-8", "utf8"}:
        raise ApiError("invalid_json", "The body must be in UTF-8. Omit the charset.")


def read_media_type(meta: Mapping[str, str]) -> str:
    if meta.get("HTTP_CONTENT_ENCODING", "identity").strip().lower() not in {"", "identity"}:
        message = "The body is compressed. Send the body uncompressed, without Content-Encoding."
        raise ApiError("unsupported_media_type", message)
    return _parse_content_type(meta.get("CONTENT_TYPE", ""))[0]


@lru_cache(maxsize=64)
def _parse_content_type(content_type: str) -> tuple[str, frozenset[str]]:
    """Return media type and charsets. Cached, as clients send few values."""
    message = Message()
    message["Content-Type"] = content_type
    parameters = message.get_params([])
    charsets = (str(value) for name, value in parameters if name.lower() == "charset")
    return message.get_content_type(), frozenset(charset.strip().lower() for charset in charsets)
