"""The OpenAPI document is complete and clean, so that tools generate good clients from it.

The reference page shows the same.
"""

import builtins
import re
import tomllib
import typing
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from drf_spectacular.validation import validate_schema
from jsonschema import Draft202012Validator

from accounts.events.types import offered_types
from apikeys.errors import REFUSALS
from apikeys.events.serializers import EVENT_EXAMPLE
from apikeys.rest import reference
from lists.event_types import LIST_READY
from tests.servers.product import ROOT
from tests.support.api_client import ApiClient

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]


@pytest.fixture
def document() -> Any:
    return Client().get("/docs/openapi.json").json()


def operations(document: Any) -> list[Any]:
    return [op for methods in document["paths"].values() for op in methods.values()]


def iterate_objects(node: Any) -> Iterator[dict[str, Any]]:
    """Yield every object inside the node, however deep."""
    if isinstance(node, dict):
        yield node
    for child in (
        node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    ):
        yield from iterate_objects(child)


def responses_of(document: Any, operation: Any) -> dict[str, Any]:
    return {
        status: resolve(document, response["$ref"]) if "$ref" in response else response
        for status, response in operation["responses"].items()
    }


def examples_of(response: Any) -> dict[str, Any]:
    contents = response["content"].values()
    return {name: example for content in contents for name, example in content["examples"].items()}


def resolve(document: Any, reference: str) -> Any:
    found = document
    for name in reference.removeprefix("#/").split("/"):
        found = found[name]
    return found


def test_document_is_valid_and_has_the_releases_version_and_no_notes_of_the_generator(
    document: Any,
) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert document["info"]["version"] == project["version"]
    names = {name for node in iterate_objects(document) for name in node}
    assert {name for name in names if name.startswith("x-")} == set()
    validate_schema(document)  # type: ignore[no-untyped-call]
    parameters = document["webhooks"]["list.ready"]["post"]["parameters"]
    headers = ["webhook-id", "webhook-timestamp", "webhook-signature"]
    assert [parameter["name"] for parameter in parameters] == headers


def test_shared_components_exist_are_used_and_have_names_fit_for_generated_code(
    document: Any,
) -> None:
    references = {node["$ref"] for node in iterate_objects(document) if "$ref" in node}
    assert len(references) > 40
    assert all(resolve(document, reference) for reference in references)
    for kind in ("examples", "headers", "responses", "schemas"):
        for name in document["components"][kind]:
            assert f"#/components/{kind}/{name}" in references
    for operation in operations(document):
        shared = {status for status, one in operation["responses"].items() if "$ref" in one}
        assert {"401", "403", "405", "406", "411", "413", "429", "500", "503"} <= shared
    # No schema hides a name of Python.
    assert not document["components"]["schemas"].keys() & {*dir(builtins), *typing.__all__}
    names = {name for node in iterate_objects(document) for name in node.get("examples", ())}
    assert len(names) > len(REFUSALS)
    assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) for name in names)


def test_each_error_example_is_shared_under_its_code_by_responses_of_its_status(
    document: Any,
) -> None:
    examples = document["components"]["examples"]
    assert {name: ex["value"]["error"]["code"] for name, ex in examples.items()} == {
        code: code for code in REFUSALS
    }
    shown: dict[str, list[str]] = {}
    for operation in operations(document):
        codes = shown[operation["operationId"]] = []
        for status, response in responses_of(document, operation).items():
            for code, example in examples_of(response).items():
                if status.startswith("2"):
                    assert "value" in example
                else:
                    assert example == {"$ref": f"#/components/examples/{code}"}
                    assert REFUSALS[code].status == int(status)
                    codes.append(code)
    validate = document["paths"]["/v1/validate"]["post"]["operationId"]
    assert sorted(shown[validate]) == sorted(REFUSALS)


def test_every_parameter_header_and_request_body_has_a_valid_example(document: Any) -> None:
    parameters = [one for op in operations(document) for one in op.get("parameters", [])]
    headers = [
        resolve(document, header["$ref"]) if "$ref" in header else header
        for op in operations(document)
        for response in responses_of(document, op).values()
        for header in response["headers"].values()
    ]
    bodies = [op["requestBody"] for op in operations(document) if "requestBody" in op]
    assert len(parameters) > 20
    assert len(bodies) == 13
    contents = [content for body in bodies for content in body["content"].values()]
    for described in [*parameters, *headers, *contents]:
        schema = {**described["schema"], "components": document["components"]}
        for value in example_values(described):
            Draft202012Validator(schema).validate(value)


def test_every_example_of_a_response_matches_its_schema(document: Any) -> None:
    checked = set()
    for operation in operations(document):
        for response in responses_of(document, operation).values():
            for content in response["content"].values():
                schema = {**content["schema"], "components": document["components"]}
                for example in content["examples"].values():
                    found = resolve(document, example["$ref"]) if "$ref" in example else example
                    assert not list(Draft202012Validator(schema).iter_errors(found["value"]))
                    checked.add(found["summary"])
    assert checked > REFUSALS.keys()


def test_every_type_of_event_is_a_webhook_with_a_valid_example(document: Any) -> None:
    assert list(document["webhooks"]) == [event_type.name for event_type in offered_types()]
    bodies = {
        name: webhook["post"]["requestBody"]["content"]["application/json"]
        for name, webhook in document["webhooks"].items()
    }
    response = document["paths"]["/v1/events/{event_id}"]["get"]["responses"]["200"]
    described = [*bodies.values(), *response["content"].values()]
    for (event,) in map(example_values, described):
        schema = bodies.get(event["type"], {}).get("schema", {})
        Draft202012Validator({**schema, "components": document["components"]}).validate(event)


def example_values(described: Any) -> list[Any]:
    """Return the values of an object with `example` or `examples`, of which there must be one."""
    values = [example["value"] for example in described.get("examples", {}).values()]
    values += [described["example"]] if "example" in described else []
    assert values, described
    return values


def test_a_schema_uses_one_of_only_for_a_reference_or_null(document: Any) -> None:
    unions = [node["oneOf"] for node in iterate_objects(document) if "oneOf" in node]
    assert len(unions) > 2
    for first, second in unions:
        assert first.keys() == {"$ref"}
        assert second == {"type": "null"}
    assert not any("nullable" in node for node in iterate_objects(document["components"]))


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


HEADERS = {
    *("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Id"),
    *("RateLimit-Policy", "RateLimit"),
}


def test_every_operation_is_documented(document: Any) -> None:
    assert document["openapi"].startswith("3.1")
    assert document["servers"] == [{"url": "http://127.0.0.1:8000"}]
    assert document["components"]["securitySchemes"]["apiKey"]["scheme"] == "bearer"
    paths = document["paths"]
    assert Counter(path.split("/")[2] for path in paths for _ in paths[path]) == {
        "validate": 2,
        "validations": 2,
        "lists": 18,
        "webhooks": 10,
        "events": 2,
        "domains": 2,
        "me": 1,
        "credits": 1,
        "usage": 1,
    }
    for operation in operations(document):
        assert operation["summary"]
        assert operation["description"]
        assert [*operation["security"][0]] == ["apiKey"]


def test_every_documented_response_has_headers_and_examples(document: Any) -> None:
    extra = {"401": {"WWW-Authenticate"}, "405": {"Allow"}, "429": {"Retry-After"}}
    for operation in operations(document):
        for status, response in responses_of(document, operation).items():
            assert HEADERS | extra.get(status, set()) <= set(response["headers"])
            assert all(content["examples"] for content in response["content"].values())


def test_examples_have_the_fields_of_real_responses(document: Any, caller: ApiClient) -> None:
    response = document["paths"]["/v1/validate"]["post"]["responses"]["200"]
    real = caller.validate("disposable@sandbox.test").json()
    for example in response["content"]["application/json"]["examples"].values():
        assert list(example["value"]) == list(real)
    examples = response["content"]["application/json"]["examples"].values()
    values = [example["value"] for example in examples]
    (mistyped,) = (value for value in values if not value["sandbox"])
    assert mistyped["did_you_mean"] == "Jane.Doe+news@gmail.com"
    assert (mistyped["reason"], mistyped["score"]) == ("possible_typo", 35)
    assert mistyped["mx"]["records"] == [{"preference": 5, "host": "mx.gmial.com"}]


def test_reference_lists_every_field_of_a_result(caller: ApiClient) -> None:
    page = Client().get("/docs/api/validation/").content.decode()
    result = caller.validate("jane").json()
    for name in result:
        assert f"<code>{name}</code>" in page
    for name in result["checks"]:
        assert f"<code>checks.{name}</code>" in page
    assert "<code>mx.records[].host</code>" in page
    assert "<code>syntax_error.code</code>" in page


def test_reference_shows_readable_types() -> None:
    validate = next(o for o in reference.operations() if o.path == "/v1/validate")
    types = {field.path: field.kind for field in validate.result}
    assert types["score"] == "integer or null"
    assert types["email"] == "string"
    assert types["evidence"] == '"syntax" or "dns" or "smtp"'
    assert types["mx.fallback"] == '"a" or "aaaa" or null'
    assert types["mx.gateway"] == types["mx.ipv4"] == "boolean or null"
    assert types["syntax_error"] == "object or null"
    assert types["reasons"] == "array of string"
    assert types["mx.records"] == "array of object"
    assert all(field.text for field in validate.result)
