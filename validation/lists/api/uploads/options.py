"""Read what a customer chooses for a list, from the fields of a JSON object or from the query."""

from apikeys.request import ApiRequest
from apikeys.rest.request_body import refuse_unknown_fields
from validation.lists.api.parameters import (
    invalid_field,
    read_choice,
    read_optional_number,
    read_text,
)
from validation.lists.uploads.options import MAX_COLUMN, MAX_CREDITS, ListOptions
from validation.models.lists import Dedupe

LIST_FIELDS = ("name", "dedupe", "recheck_unknown", "start", "max_credits", "metadata")
FILE_FIELDS = ("column", "header", "delimiter")
FILE_PARAMETERS = (*FILE_FIELDS, "name", "dedupe", "recheck_unknown", "start", "max_credits")
_FLAGS = {"true": True, "false": False}
_MAX_DIGITS = 16

Document = dict[str, object]


def options_from_json(document: Document, *, content_type: str = "") -> ListOptions:
    """Return the options. The caller has refused fields that the operation doesn't accept."""
    options = ListOptions(
        name=_text(document, "name"),
        dedupe=_text(document, "dedupe") or Dedupe.ADDRESS,
        rechecks_unknown=_flag(document, "recheck_unknown", default=True),
        starts_when_ready=_flag(document, "start", default=False),
        max_credits=read_optional_number(document, "max_credits", low=1, high=MAX_CREDITS),
        metadata=_metadata(document),
        content_type=content_type,
        delimiter=_text(document, "delimiter"),
        has_header=_optional_flag(document, "header"),
        column=read_optional_number(document, "column", low=0, high=MAX_COLUMN),
    )
    options.check()
    return options


def options_from_query(request: ApiRequest) -> ListOptions:
    options = ListOptions(
        name=read_text(request, "name") or "",
        dedupe=read_choice(request, "dedupe", Dedupe.values, Dedupe.ADDRESS),
        rechecks_unknown=_FLAGS[read_choice(request, "recheck_unknown", _FLAGS, "true")],
        starts_when_ready=_FLAGS[read_choice(request, "start", _FLAGS, "false")],
        max_credits=_number(request, "max_credits"),
        content_type=request.META.get("CONTENT_TYPE", ""),
        delimiter=read_text(request, "delimiter") or "",
        has_header=_FLAGS.get(read_choice(request, "header", _FLAGS, "")),
        column=_number(request, "column"),
    )
    options.check()
    return options


def refuse_other_fields(document: Document, *others: str) -> None:
    refuse_unknown_fields(document, *others, *LIST_FIELDS)


def _text(document: Document, name: str) -> str:
    value = document.get(name, "")
    if not isinstance(value, str):
        raise invalid_field(name, f"{name} must be a string.")
    return value


def _flag(document: Document, name: str, *, default: bool) -> bool:
    value = document.get(name, default)
    if not isinstance(value, bool):
        raise invalid_field(name, f"{name} must be true or false.")
    return value


def _optional_flag(document: Document, name: str) -> bool | None:
    value = document.get(name)
    if value is not None and not isinstance(value, bool):
        raise invalid_field(name, f"{name} must be true, false or null.")
    return value


def _metadata(document: Document) -> dict[str, str]:
    value = document.get("metadata", {})
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise invalid_field("metadata", "metadata must be an object whose values are strings.")
    return value


def _number(request: ApiRequest, name: str) -> int | None:
    text = read_text(request, name)
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS):
        raise invalid_field(name, f"{name} must be a whole number.")
    return int(text)
