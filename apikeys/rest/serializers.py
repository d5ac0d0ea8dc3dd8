from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, ClassVar

from rest_framework import serializers
from rest_framework.request import Request

from apikeys.errors import REFUSALS
from apikeys.rest import fields
from apikeys.rest.fields import InvalidValue
from apikeys.rest.request_body import invalid_field, missing_field, refuse_unknown_fields


class ApiSerializer(serializers.Serializer[Any]):
    # By title, for the OpenAPI document.
    examples: ClassVar[Mapping[str, Any]] = {}

    @classmethod
    @cache
    def known_fields(cls) -> dict[str, Any]:
        return dict(cls().fields)

    @classmethod
    def parse(cls, document: dict[str, object]) -> dict[str, Any]:
        """Return what was sent, by `source`, or raise the first error in the contract's order."""
        for name, field in cls.known_fields().items():
            if field.required and name not in document:
                raise missing_field(name)
        values = {
            field.source: _parse(name, field.to_internal_value, document[name])
            if document[name] is not None or not field.allow_null
            else None
            for name, field in cls.known_fields().items()
            if name in document
        }
        checked: dict[str, Any] = cls().validate(values)
        refuse_unknown_fields(document, *cls.known_fields())
        return checked

    @classmethod
    def parse_query(cls, request: Request) -> dict[str, Any]:
        """Return what was sent, by `source`. ApiView refuses unknown parameters."""
        values: dict[str, Any] = {}
        for sent, texts in request.query_params.lists():
            name, bracket, key = sent.partition("[")
            field = cls.known_fields().get(name)
            if field is None or bool(bracket) != isinstance(field, fields.StringMap):
                continue
            if len(texts) > 1:
                what = f"A name in {name}" if bracket else name
                raise invalid_field(name, f"{what} was given more than once.")
            if bracket:
                values.setdefault(field.source, {})[key.removesuffix("]")] = texts[0]
            else:
                values[field.source] = _parse(name, field.parse_text, texts[0])
        return values


def _parse(name: str, parse: Callable[[Any], Any], value: object) -> Any:
    try:
        return parse(value)
    except InvalidValue as error:
        param = f"{name}{error.place}"
        raise invalid_field(param, f"{param} {error.problem}", error.details) from None


class RefusalSerializer(ApiSerializer):
    type = fields.Choice(
        "The category of the code, for clients that handle a whole category the same way",
        sorted({refusal.type for refusal in REFUSALS.values()}),
    )
    code = fields.String("Stable, so your code can depend on it. New codes may be added")
    message = fields.String("An explanation for people. The wording may change")
    param = fields.String("The field or header that caused the error, if any", allow_null=True)
    details = fields.Object("Details that depend on the code: see the errors page")
    doc_url = fields.URL("The documentation of this code")
    request_id = fields.String("The same as in X-Request-Id. Include it when you contact support")


class ErrorSerializer(ApiSerializer):
    error = RefusalSerializer()
