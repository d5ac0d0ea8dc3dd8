"""A query parameter that the operation does not know is refused by name, and never with a key."""

from typing import Any

import orjson
import pytest
from django.urls import URLPattern, get_resolver

from apikeys.rest.reference import description
from tests.support.api_client import ApiClient, code_of

pytestmark = pytest.mark.django_db

OK_BODY = b'{"email": "deliverable@sandbox.test"}'


def send(caller: ApiClient, path: str, query: str) -> Any:
    if path == "/v1/validate":
        return caller.call("POST", f"{path}?{query}", OK_BODY)
    return caller.get(f"{path}?{query}")


def views_by_path() -> dict[str, Any]:
    """The class of each route under /v1."""
    routes = {
        "/" + str(one.pattern).strip("^$").removesuffix("/?"): one.callback
        for one in get_resolver().url_patterns
        if isinstance(one, URLPattern) and str(one.pattern).startswith("^v1")
    }
    return {path: getattr(callback, "cls", None) for path, callback in routes.items()}


@pytest.mark.parametrize("path", ["/v1/validate", "/v1/me", "/v1/credits", "/v1/usage"])
def test_an_unknown_query_parameter_is_named(caller: ApiClient, path: str) -> None:
    answer = send(caller, path, "form=2026-11-01")
    assert (answer.status_code, code_of(answer)) == (400, "unknown_field")
    assert answer.json()["error"]["param"] == "form"


@pytest.mark.parametrize("query", ["", "&", "&&"])
def test_an_empty_query_string_is_accepted(caller: ApiClient, query: str) -> None:
    assert send(caller, "/v1/validate", query).status_code == 200


@pytest.mark.parametrize("query", ["from=2026-11-01&form=1", "form", "form=", "form=1&form=2"])
def test_a_parameter_without_a_value_or_next_to_a_known_one_is_unknown(
    caller: ApiClient, query: str
) -> None:
    answer = caller.get(f"/v1/usage?{query}")
    assert code_of(answer) == "unknown_field"
    assert answer.json()["error"]["param"] == "form"


def test_the_error_names_the_parameters_that_exist(caller: ApiClient) -> None:
    usage, me = caller.get("/v1/usage?form=1"), caller.get("/v1/me?form=1")
    assert "from, to, key" in usage.json()["error"]["message"]
    assert "takes none" in me.json()["error"]["message"]


@pytest.mark.parametrize("query", ["{}=1", "x{}=1", "{}", "{tail}=1", "a%20{}=1"])
def test_a_name_that_holds_a_key_is_not_repeated(
    caller: ApiClient, secret: str, query: str
) -> None:
    answer = caller.get("/v1/me?" + query.format(secret, tail=secret[9:]))
    assert code_of(answer) == "unknown_field"
    assert answer.json()["error"]["param"] is None
    assert secret[9:] not in answer.content.decode()


def test_a_key_as_the_value_is_not_repeated(caller: ApiClient, secret: str) -> None:
    answer = caller.get(f"/v1/me?api_key={secret}")
    assert answer.json()["error"]["param"] == "api_key"
    assert secret not in answer.content.decode()


def test_more_parameters_than_django_reads_are_a_bad_request(caller: ApiClient) -> None:
    assert code_of(caller.get("/v1/me?" + "a&" * 2000)) == "bad_request"


class TestOrder:
    def test_401_before_an_unknown_parameter(self) -> None:
        assert code_of(ApiClient().get("/v1/usage?form=1")) == "missing_api_key"

    def test_404_and_405_before_an_unknown_parameter(self, caller: ApiClient) -> None:
        assert code_of(caller.get("/v1/nothing?form=1")) == "not_found"
        assert code_of(caller.get("/v1/validate?form=1")) == "method_not_allowed"

    def test_406_before_an_unknown_parameter(self, caller: ApiClient) -> None:
        assert code_of(caller.get("/v1/me?form=1", Accept="text/html")) == "not_acceptable"

    @pytest.mark.parametrize(
        ("body", "code"),
        [
            (b"no json", "invalid_json"),
            (b"{}", "missing_field"),
            (b'{"email": 1}', "invalid_field"),
        ],
    )
    def test_other_errors_of_the_request_before_an_unknown_parameter(
        self, caller: ApiClient, body: bytes, code: str
    ) -> None:
        assert code_of(caller.call("POST", "/v1/validate?form=1", body)) == code

    def test_a_wrong_value_before_an_unknown_parameter(self, caller: ApiClient) -> None:
        assert code_of(caller.get("/v1/usage?form=1&from=yesterday")) == "invalid_field"

    def test_an_unknown_parameter_before_422_and_a_replay(self, caller: ApiClient) -> None:
        key = {"Idempotency_Key": "one-request"}
        assert caller.validate("deliverable@sandbox.test", **key).status_code == 200
        for word in (b"deliverable", b"risky"):
            body = b'{"email": "%s@sandbox.test"}' % word
            answer = caller.call("POST", "/v1/validate?form=1", body, **key)
            assert code_of(answer) == "unknown_field"


def test_each_view_declares_the_parameters_that_its_description_has() -> None:
    views, paths = views_by_path(), orjson.loads(description())["paths"]
    assert len(paths) >= 4
    for path, operations in paths.items():
        for operation in operations.values():
            described = {
                one["name"] for one in operation.get("parameters", []) if one["in"] == "query"
            }
            assert described == set(views[path].query_parameters)
