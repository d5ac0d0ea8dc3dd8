"""Checks of a request's body and query parameters, with the statuses 400, 411, 413 and 415."""

import re
from collections.abc import Mapping

from rest_framework.request import Request

from apikeys.crypto import contains_secret
from apikeys.errors import ApiError
from apikeys.rest.negotiation import check_media_type
from apikeys.rest.paths import max_body_bytes
from apikeys.rest.strict_json import InvalidJSON, parse_json

_PARAM_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")


def check_content_length(meta: Mapping[str, str]) -> None:
    """Raise if the length is missing, malformed or too large, also where no body is expected."""
    length = meta.get("CONTENT_LENGTH") or ""
    if not length and meta.get("HTTP_TRANSFER_ENCODING"):
        raise ApiError("length_required")
    if length and not (length.isascii() and length.isdigit()):
        raise ApiError("bad_request", "The Content-Length header is not a number.")
    limit = max_body_bytes(meta.get("PATH_INFO", ""))
    if len(length) > 9 or int(length or 0) > limit:
        raise ApiError("request_too_large", f"The body is larger than {_format_size(limit)}.")


def _format_size(size: int) -> str:
    return f"{size >> 20} MB" if size >= 1 << 20 else f"{size >> 10} KB"


def read_bytes(request: Request) -> bytes:
    """Return the whole body, which check_content_length has limited."""
    length = int(request.META.get("CONTENT_LENGTH") or 0)
    # Not `.body`, whose limit is that of forms.
    body: bytes = request._request.read(length) if length else b""
    if len(body) < length:
        raise ApiError("bad_request", "The body is shorter than its Content-Length.")
    return body


def read_object(request: Request) -> dict[str, object]:
    """Return the JSON object in the body."""
    check_media_type(request.META)
    try:
        document = parse_json(read_bytes(request))
    except InvalidJSON as error:
        raise ApiError("invalid_json", str(error)) from None
    if not isinstance(document, dict):
        raise ApiError("invalid_field", "The body must be a JSON object.")
    return document


def read_string(document: dict[str, object], name: str, *, min_length: int, max_length: int) -> str:
    if name not in document:
        raise ApiError("missing_field", f"The field {name} is required.", param=name)
    value = document[name]
    if not isinstance(value, str) or not min_length <= len(value) <= max_length:
        message = f"{name} must be a string of {min_length} to {max_length} characters."
        raise ApiError("invalid_field", message, param=name)
    return value


def read_strings(
    document: dict[str, object], name: str, *, max_items: int, min_length: int, max_length: int
) -> list[str]:
    """Return a list of 1 to `max_items` strings."""
    if name not in document:
        raise ApiError("missing_field", f"The field {name} is required.", param=name)
    values = document[name]
    if not isinstance(values, list) or not 1 <= len(values) <= max_items:
        message = f"{name} must be an array of 1 to {max_items} strings."
        raise ApiError("invalid_field", message, param=name, details={"max": max_items})
    for index, value in enumerate(values):
        if not isinstance(value, str) or not min_length <= len(value) <= max_length:
            param = f"{name}[{index}]"
            message = f"{param} must be a string of {min_length} to {max_length} characters."
            raise ApiError("invalid_field", message, param=param)
    return values


def refuse_unknown_fields(document: dict[str, object], *known: str) -> None:
    for name in document:
        if name not in known:
            raise _unknown_field(
                name, f"This operation accepts only these fields: {', '.join(known)}."
            )


def refuse_unknown_parameters(request: Request, known: tuple[str, ...]) -> None:
    for name in request.query_params:
        if name not in known:
            raise _unknown_field(name, _describe_parameters(known))


def _describe_parameters(known: tuple[str, ...]) -> str:
    if known:
        return f"This operation accepts only these query parameters: {', '.join(known)}."
    return "This operation accepts no query parameters. Remove them from the URL."


def _unknown_field(name: str, message: str) -> ApiError:
    # Repeat the name only if it looks like one, and never if it contains an API key.
    param = name if _PARAM_NAME.fullmatch(name) and not contains_secret(name) else None
    return ApiError("unknown_field", message, param=param)
