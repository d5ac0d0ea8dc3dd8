"""The body of a request, from its length to its fields, and its query parameters: 411 to 400."""

import re
from collections.abc import Mapping
from typing import Any

from rest_framework.request import Request

from apikeys.crypto import holds_a_secret
from apikeys.errors import ApiError
from apikeys.rest.negotiation import refuse_media_type
from apikeys.rest.paths import MAX_BODY_BYTES
from apikeys.rest.strict_json import InvalidJSON, parse_json

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")


def refuse_length(meta: Mapping[str, Any]) -> None:
    """Also of requests that take no body."""
    length = meta.get("CONTENT_LENGTH") or ""
    if not length and meta.get("HTTP_TRANSFER_ENCODING"):
        raise ApiError("length_required")
    if length and not (length.isascii() and length.isdigit()):
        raise ApiError("bad_request", "The Content-Length header is not a number.")
    if len(length) > 9 or int(length or 0) > MAX_BODY_BYTES:
        raise ApiError("request_too_large")


def read_object(request: Request) -> dict[str, Any]:
    refuse_media_type(request.META)
    body = request._request.body
    if len(body) < int(request.META.get("CONTENT_LENGTH") or 0):
        raise ApiError("bad_request", "The body ended before its Content-Length.")
    try:
        document = parse_json(body)
    except InvalidJSON as error:
        raise ApiError("invalid_json", str(error)) from None
    if not isinstance(document, dict):
        raise ApiError("invalid_field", "The body must be a JSON object.")
    return document


def take_text(document: dict[str, Any], name: str, *, shortest: int, longest: int) -> str:
    if name not in document:
        raise ApiError("missing_field", f"The field {name} is required.", param=name)
    value = document[name]
    if not isinstance(value, str) or not shortest <= len(value) <= longest:
        message = f"{name} must be a string of {shortest} to {longest} characters."
        raise ApiError("invalid_field", message, param=name)
    return value


def refuse_unknown(document: dict[str, Any], *known: str) -> None:
    for name in document:
        if name not in known:
            raise _unknown(name, f"The body may have these fields only: {', '.join(known)}.")


def refuse_unknown_parameters(request: Request, known: tuple[str, ...]) -> None:
    for name in request.query_params:
        if name not in known:
            takes = f"these query parameters only: {', '.join(known)}" if known else "none"
            raise _unknown(name, f"Remove the query parameter: this operation takes {takes}.")


def _unknown(name: str, message: str) -> ApiError:
    # The name is only repeated where it is one, and never a key.
    param = name if _NAME.fullmatch(name) and not holds_a_secret(name) else None
    return ApiError("unknown_field", message, param=param)
