"""The Postman collection has every operation of the OpenAPI document, and its requests work."""

import json
from typing import Any

import pytest
from django.test import Client

from apikeys.rest import reference
from tests.support.api_client import ApiClient

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]


@pytest.fixture
def collection() -> Any:
    response = Client().get("/docs/postman.json")
    assert response.headers["Content-Type"] == "application/json"
    return response.json()


def requests(collection: Any) -> list[Any]:
    return [item["request"] for item in collection["item"]]


def test_collection_names_its_format_and_variables(collection: Any) -> None:
    assert set(collection) == {"info", "auth", "variable", "item"}
    assert collection["info"]["schema"].endswith("/collection/v2.1.0/collection.json")
    assert collection["info"]["name"] == "Email Validation API"
    variables = {variable["key"]: variable["value"] for variable in collection["variable"]}
    assert variables == {"base_url": "http://127.0.0.1:8000", "api_key": ""}


def test_requests_authenticate_with_the_key_of_the_variable(collection: Any) -> None:
    (token,) = collection["auth"]["bearer"]
    assert collection["auth"]["type"] == "bearer"
    assert (token["key"], token["value"]) == ("token", "{{api_key}}")
    assert not any("auth" in request for request in requests(collection))
    assert "svc_live_" not in json.dumps(collection["auth"])


def test_collection_has_one_request_for_each_operation(collection: Any) -> None:
    expected = [
        (operation.summary, operation.method, "{{base_url}}" + postman_path(operation.path))
        for operation in reference.operations()
    ]
    found = [
        (item["name"], item["request"]["method"], item["request"]["url"]["raw"])
        for item in collection["item"]
    ]
    assert found == expected
    assert len(found) > 10


def test_parts_of_a_url_agree_with_it(collection: Any) -> None:
    for request in requests(collection):
        url = request["url"]
        assert "/".join([*url["host"], *url["path"]]) == url["raw"]


def test_parameters_have_example_values_and_are_not_selected(collection: Any) -> None:
    for request, operation in zip(requests(collection), reference.operations(), strict=True):
        query = request["url"].get("query", [])
        assert [one["key"] for one in query] == [field.path for field in operation.query]
        assert [one["key"] for one in request["header"]] == [f.path for f in operation.headers]
        for one in [*query, *request["header"]]:
            assert one["value"]
            assert one["description"]
            assert one["disabled"] is True


def postman_path(path: str) -> str:
    """Return a path of the OpenAPI document with its variables as Postman writes them."""
    return path.replace("{", ":").replace("}", "")


def test_variables_of_paths_have_example_values(collection: Any) -> None:
    for request in requests(collection):
        named = {part[1:] for part in request["url"]["path"] if part.startswith(":")}
        variables = {one["key"]: one["value"] for one in request["url"].get("variable", [])}
        assert variables.keys() == named
        assert all(variables.values())


def test_every_request_is_accepted_as_it_is_sent(collection: Any, caller: ApiClient) -> None:
    sent_bodies = []
    # Their own tests send these, to lists in various states and to results that exist.
    others = {"lists", "validations"}
    for request in (one for one in requests(collection) if not others & {*one["url"]["path"]}):
        body = request.get("body")
        if body is not None:
            assert (body["mode"], body["options"]) == ("raw", {"raw": {"language": "json"}})
            sent_bodies.append(json.loads(body["raw"]))
        path = request["url"]["raw"].removeprefix("{{base_url}}")
        response = caller.call(request["method"], path, (body["raw"] if body else "").encode())
        assert response.status_code == 200, response.content
    assert sent_bodies == [
        {"email": "jane@shop.example"},
        {"emails": ["jane@shop.example", "deliverable@sandbox.test"]},
        {"allowed": ["partner.example"], "denied": ["Spam.example", "bücher.example"]},
    ]


def test_each_request_has_the_responses_of_the_reference(collection: Any) -> None:
    for item, operation in zip(collection["item"], reference.operations(), strict=True):
        (ok,) = (one for one in operation.responses if one.status.startswith("2"))
        saved = [(response["name"], response["body"]) for response in item["response"]]
        assert saved == ok.examples
        for response in item["response"]:
            assert response["code"] == int(ok.status)
            assert response["status"] in {"OK", "Created", "Accepted"}
            assert response["originalRequest"] == item["request"]
