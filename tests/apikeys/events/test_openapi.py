"""The OpenAPI document describes each type of event as a webhook."""

from typing import Any

import pytest
from drf_spectacular.validation import validate_schema
from jsonschema import Draft202012Validator

from apikeys.events.serializers import EVENT_EXAMPLE
from apikeys.rest import reference
from lists.event_types import LIST_READY

pytestmark = pytest.mark.anywhere


@pytest.fixture
def document() -> Any:
    return reference.parse_document()


def test_document_with_webhooks_is_valid(document: Any) -> None:
    validate_schema(document)  # type: ignore[no-untyped-call]
    parameters = document["webhooks"]["list.ready"]["post"]["parameters"]
    headers = ["webhook-id", "webhook-timestamp", "webhook-signature"]
    assert [parameter["name"] for parameter in parameters] == headers


def test_schema_of_a_type_accepts_its_events_only(document: Any) -> None:
    content = document["webhooks"]["list.ready"]["post"]["requestBody"]["content"]
    body = content["application/json"]
    assert body["schema"] == {"$ref": "#/components/schemas/ListReadyEvent"}
    components = {"components": document["components"]}
    of_type = Draft202012Validator({**body["schema"], **components})
    of_any_type = Draft202012Validator({"$ref": "#/components/schemas/Event", **components})
    event = body["examples"]["ListReadyEvent"]["value"]
    assert event["data"] == LIST_READY.example
    for validator in (of_type, of_any_type):
        validator.validate(event)
    assert of_any_type.is_valid(EVENT_EXAMPLE)
    without_state = {name: value for name, value in event["data"].items() if name != "state"}
    for change in ({"type": "list.failed"}, {"data": without_state}):
        assert not of_type.is_valid({**event, **change})
