"""The OpenAPI document describes each type of event as a webhook."""

from typing import Any

import orjson
import pytest
from drf_spectacular.validation import validate_schema
from jsonschema import Draft202012Validator
from pytest_django import Settings

from accounts.events import EventType
from accounts.events.types import integer, text, time
from apikeys.events.serializers import EVENT_EXAMPLE
from apikeys.rest import reference

pytestmark = pytest.mark.anywhere

EXPIRING = EventType(
    "key.credit_limit",
    "Key expires",
    "A key expires in a week.",
    {
        "id": text("ID of the key", "key_1"),
        "state": text("Its state", None, values=["valid"], is_nullable=True),
        "credits": integer("Its credits", 5),
        "expires_at": time("When it expires", "2026-11-20T18:30:00.123Z"),
    },
)


@pytest.fixture
def document(settings: Settings) -> Any:
    settings.EVENT_TYPES = [f"{__name__}.EXPIRING"]
    return orjson.loads(reference.openapi_document.__wrapped__())


def test_document_with_webhooks_is_valid(document: Any) -> None:
    validate_schema(document)  # type: ignore[no-untyped-call]
    parameters = document["webhooks"]["key.credit_limit"]["post"]["parameters"]
    headers = ["webhook-id", "webhook-timestamp", "webhook-signature"]
    assert [parameter["name"] for parameter in parameters] == headers


def test_schema_of_a_type_accepts_its_events_only(document: Any) -> None:
    content = document["webhooks"]["key.credit_limit"]["post"]["requestBody"]["content"]
    body = content["application/json"]
    assert body["schema"] == {"$ref": "#/components/schemas/KeyCreditLimitEvent"}
    components = {"components": document["components"]}
    of_type = Draft202012Validator({**body["schema"], **components})
    of_any_type = Draft202012Validator({"$ref": "#/components/schemas/Event", **components})
    event = body["examples"]["KeyCreditLimitEvent"]["value"]
    assert event["data"] == EXPIRING.example
    for validator in (of_type, of_any_type):
        validator.validate(event)
    assert of_any_type.is_valid(EVENT_EXAMPLE)
    without_state = {name: value for name, value in event["data"].items() if name != "state"}
    for change in ({"type": "key.expired"}, {"data": without_state}):
        assert not of_type.is_valid({**event, **change})
