"""The fields and the serializer that parse requests: nothing is converted."""

from typing import Any

import pytest
from django.test import RequestFactory
from rest_framework.request import Request

from apikeys.errors import ApiError
from apikeys.rest import fields
from apikeys.rest.serializers import ApiSerializer
from apikeys.rest.strict_json import parse_json


class OrderSerializer(ApiSerializer):
    size = fields.Choice("", ["small", "large"])
    note = fields.String("", required=False, allow_null=True, max_length=5)
    count = fields.Integer("", required=False, min_value=1, max_value=9, source="quantity")
    is_gift = fields.Boolean("", required=False)
    tags = fields.Strings("", required=False, min_length=1, max_length=2)
    labels = fields.StringMap("", required=False)


def parse_query(query: str) -> dict[str, Any]:
    return OrderSerializer.parse_query(Request(RequestFactory().get(f"/?{query}")))


def test_parsed_document_has_what_was_sent() -> None:
    sent = {"size": "small", "note": " é ", "count": 9, "is_gift": False, "tags": ["a"]}
    parsed = {"size": "small", "note": " é ", "quantity": 9, "is_gift": False, "tags": ["a"]}
    assert OrderSerializer.parse({**sent, "labels": {"a": ""}}) == {**parsed, "labels": {"a": ""}}
    assert OrderSerializer.parse({"size": "large", "note": None}) == {"size": "large", "note": None}


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ('{"size": "Small"}', "size"),
        ('{"size": null}', "size"),
        ('{"size": ["small"]}', "size"),
        ('{"size": "small", "note": 5}', "note"),
        ('{"size": "small", "note": "123456"}', "note"),
        ('{"size": "small", "count": "5"}', "count"),
        ('{"size": "small", "count": 5.0}', "count"),
        ('{"size": "small", "count": true}', "count"),
        ('{"size": "small", "count": 1e999}', "count"),
        ('{"size": "small", "count": 10}', "count"),
        ('{"size": "small", "count": null}', "count"),
        ('{"size": "small", "is_gift": 1}', "is_gift"),
        ('{"size": "small", "is_gift": "true"}', "is_gift"),
        ('{"size": "small", "tags": "ab"}', "tags"),
        ('{"size": "small", "tags": []}', "tags"),
        ('{"size": "small", "tags": ["a", 1]}', "tags[1]"),
        ('{"size": "small", "labels": {"a": 1}}', "labels"),
    ],
)
def test_value_of_another_type_or_size_is_refused(body: str, param: str) -> None:
    document: Any = parse_json(body.encode())
    with pytest.raises(ApiError) as refused:
        OrderSerializer.parse(document)
    assert (refused.value.code, refused.value.param) == ("invalid_field", param)
    assert refused.value.message.startswith(f"{param} must be ")


@pytest.mark.parametrize(
    ("document", "code", "param"),
    [
        ({"count": 0, "other": 1}, "missing_field", "size"),
        ({"other": 1, "size": "small", "count": 0}, "invalid_field", "count"),
        ({"other": 1, "size": "small"}, "unknown_field", "other"),
    ],
)
def test_first_error_is_reported(document: dict[str, object], code: str, param: str) -> None:
    with pytest.raises(ApiError) as refused:
        OrderSerializer.parse(document)
    assert (refused.value.code, refused.value.param) == (code, param)


def test_query_is_parsed_from_its_texts() -> None:
    parsed = {"size": "small", "quantity": 5, "is_gift": True, "note": "5"}
    assert parse_query("size=small&count=05&is_gift=true&note=5") == parsed
    assert parse_query("unknown=1") == {}


@pytest.mark.parametrize(
    "query",
    [
        *("count=", "count=0", "count=10", "count=%2B5", "count=5.0", "count=%F0%9D%9F%9D"),
        *("is_gift=True", "is_gift=1", "size=medium", "size=small&size=small", "note=123456"),
    ],
)
def test_wrong_text_in_a_query_is_refused(query: str) -> None:
    with pytest.raises(ApiError) as refused:
        parse_query(query)
    assert (refused.value.code, refused.value.param) == ("invalid_field", query.partition("=")[0])
