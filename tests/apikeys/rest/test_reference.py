"""The OpenAPI document and the reference page, which are generated from the code."""

from typing import Any

import pytest
from django.test import Client

from apikeys.rest import reference
from tests.support.api_client import ApiClient

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

HEADERS = {
    *("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Id"),
    *("RateLimit-Policy", "RateLimit"),
}


@pytest.fixture
def schema() -> Any:
    response = Client().get("/docs/openapi.json")
    assert response.headers["Content-Type"] == "application/json"
    return response.json()


def test_every_operation_is_documented(schema: Any) -> None:
    assert schema["openapi"].startswith("3.1")
    assert schema["servers"] == [{"url": "http://127.0.0.1:8000"}]
    assert schema["components"]["securitySchemes"]["apiKey"]["scheme"] == "bearer"
    documented = {(m, p) for p, methods in schema["paths"].items() for m in methods}
    read = {("get", f"/v1/{name}") for name in ("me", "credits", "usage")}
    of_lists = {(method, path) for method, path in documented if path.startswith("/v1/lists")}
    validate = {("post", "/v1/validate"), ("post", "/v1/validate/batch")}
    domains = {("get", "/v1/domains"), ("put", "/v1/domains")}
    result = "/v1/validations/{result_id}"
    of_results = {("get", result), ("post", f"{result}/feedback")}
    of_webhooks = {(method, path) for method, path in documented if "/webhooks" in path}
    events = {("get", "/v1/events"), ("get", "/v1/events/{event_id}")}
    others = {*validate, *domains, *read, *of_results, *events}
    assert documented == {*others, *of_lists, *of_webhooks}
    assert len(of_lists) >= 7
    assert len(of_webhooks) == 10
    for methods in schema["paths"].values():
        for operation in methods.values():
            assert operation["summary"]
            assert operation["description"]
            assert [*operation["security"][0]] == ["apiKey"]


def test_every_documented_response_has_headers_and_examples(schema: Any) -> None:
    for methods in schema["paths"].values():
        for operation in methods.values():
            for status, described in operation["responses"].items():
                name = described.get("$ref", "").rpartition("/")[2]
                response = schema["components"]["responses"].get(name, described)
                extra = {"401": {"WWW-Authenticate"}, "405": {"Allow"}, "429": {"Retry-After"}}
                wanted = HEADERS | extra.get(status, set())
                assert wanted <= set(response["headers"])
                assert all(content["examples"] for content in response["content"].values())


def test_examples_have_the_fields_of_real_responses(schema: Any, caller: ApiClient) -> None:
    response = schema["paths"]["/v1/validate"]["post"]["responses"]["200"]
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
