"""Read query parameters and optional bodies of the operations on lists."""

from collections.abc import Collection

from apikeys.errors import ApiError
from apikeys.request import ApiRequest
from apikeys.rest.request_body import read_object

_MAX_DIGITS = 9


def read_optional_object(request: ApiRequest) -> dict[str, object]:
    """Return the JSON object in the body, or an empty one if there is no body."""
    return read_object(request) if int(request.META.get("CONTENT_LENGTH") or 0) else {}


def read_text(request: ApiRequest, name: str) -> str | None:
    values = request.query_params.getlist(name)
    if len(values) > 1:
        raise invalid_field(name, f"{name} was given more than once.")
    return values[0] if values else None


def read_number(request: ApiRequest, name: str, default: int, *, low: int, high: int) -> int:
    text = read_text(request, name)
    if text is None:
        return default
    is_number = text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS
    if not is_number or not low <= int(text) <= high:
        raise invalid_field(name, f"{name} must be a number from {low} to {high}.")
    return int(text)


def read_choice(request: ApiRequest, name: str, choices: Collection[str], default: str) -> str:
    text = read_text(request, name)
    if text is not None and text not in choices:
        raise invalid_field(name, f"{name} must be one of {', '.join(choices)}.")
    return text or default


def read_flag(request: ApiRequest, name: str) -> bool:
    return read_choice(request, name, ("true", "false"), "false") == "true"


def read_optional_number(
    document: dict[str, object], name: str, *, low: int, high: int
) -> int | None:
    value = document.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise invalid_field(name, f"{name} must be a number from {low} to {high}, or null.")
    return value


def read_boolean(document: dict[str, object], name: str) -> bool:
    value = document.get(name, False)
    if not isinstance(value, bool):
        raise invalid_field(name, f"{name} must be true or false.")
    return value


def invalid_field(name: str, message: str) -> ApiError:
    return ApiError("invalid_field", message, param=name)
