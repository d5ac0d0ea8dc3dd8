"""Bodies and query parameters: 400, 411, 413, 415."""

import re
from collections.abc import Mapping

from rest_framework.request import Request

from apikeys.crypto import contains_secret
from apikeys.errors import ApiError
from apikeys.rest.negotiation import check_media_type
from apikeys.rest.paths import max_body_bytes
from apikeys.rest.strict_json import InvalidJSON, parse_json

# As in `metadata[campaign]`.
_MAP_KEY = re.compile(r"\[[^\[\]]*\]$")
_PARAM_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")


def check_content_length(meta: Mapping[str, str]) -> None:
    """Also where no body is expected."""
    length = meta.get("CONTENT_LENGTH") or ""
    if not length and meta.get("HTTP_TRANSFER_ENCODING"):
        raise ApiError("length_required")
    if length and not (length.isascii() and length.isdigit()):
        raise ApiError("bad_request", "The Content-Length header is not a number.")
    limit = max_body_bytes(meta.get("PATH_INFO", ""))
    if len(length) > 9 or int(length or 0) > limit:
        size = f"{limit >> 20} MB" if limit >= 1 << 20 else f"{limit >> 10} KB"
        raise ApiError("request_too_large", f"The body is larger than {size}.")


def read_bytes(request: Request) -> bytes:
    """check_content_length has limited it."""
    length = int(request.META.get("CONTENT_LENGTH") or 0)
    # `.body` has the limit of forms.
    body: bytes = request._request.read(length) if length else b""
    if len(body) < length:
        raise ApiError("bad_request", "The body is shorter than its Content-Length.")
    return body


def read_object(request: Request) -> dict[str, object]:
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
        raise missing_field(name)
    value = document[name]
    if not isinstance(value, str) or not min_length <= len(value) <= max_length:
        message = f"{name} must be a string of {min_length} to {max_length} characters."
        raise ApiError("invalid_field", message, param=name)
    return value


def missing_field(name: str) -> ApiError:
    return ApiError("missing_field", f"The field {name} is required.", param=name)


def invalid_field(
    param: str, message: str, details: Mapping[str, object] | None = None
) -> ApiError:
    return ApiError("invalid_field", message, param=param, details=details or {})


def refuse_unknown_fields(document: dict[str, object], *known: str) -> None:
    for name in document:
        if name not in known:
            names = f"only these fields: {', '.join(known)}" if known else "no fields"
            raise _unknown_field(name, f"This operation accepts {names}.")


def refuse_unknown_parameters(
    request: Request,
    known: tuple[str, ...],
    message: str = "This operation accepts no query parameters. Remove them from the URL.",
) -> None:
    for name in request.query_params:
        if _MAP_KEY.sub("[…]", name) not in known:
            if known:
                names = ", ".join(known)
                message = f"This operation accepts only these query parameters: {names}."
            raise _unknown_field(name, message)


def _unknown_field(name: str, message: str) -> ApiError:
    # Never repeat an API key.
    param = name if _PARAM_NAME.fullmatch(name) and not contains_secret(name) else None
    return ApiError("unknown_field", message, param=param)
