"""Unknown query parameters are refused with their name, unless that contains an API key."""

from typing import Any

import pytest
from django.utils import timezone

from tests.support.api_client import ApiClient, error_code, refusal

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

OK_BODY = b'{"email": "deliverable@sandbox.test"}'


def send(caller: ApiClient, path: str, query: str) -> Any:
    if path == "/v1/validate":
        return caller.call("POST", f"{path}?{query}", OK_BODY)
    return caller.get(f"{path}?{query}")


@pytest.mark.parametrize("path", ["/v1/validate", "/v1/me", "/v1/credits", "/v1/usage"])
def test_unknown_query_parameter_is_refused(caller: ApiClient, path: str) -> None:
    for query in ("form=2026-11-01", "form", "form=", "form=1&form=2"):
        response = send(caller, path, query)
        assert refusal(response) == (400, "unknown_field", "form"), query


def test_empty_query_string_is_accepted(caller: ApiClient) -> None:
    for query in ("", "&", "&&"):
        assert send(caller, "/v1/validate", query).status_code == 200, query


def test_error_lists_the_known_parameters(caller: ApiClient) -> None:
    today = timezone.localdate()
    usage, me = caller.get(f"/v1/usage?from={today}&form=1"), caller.get("/v1/me?form=1")
    assert "from, to, key" in usage.json()["error"]["message"]
    assert "accepts no query parameters" in me.json()["error"]["message"]


@pytest.mark.parametrize("query", ["{}=1", "x{}=1", "{}", "{tail}=1", "a%20{}=1", "api_key={}"])
def test_parameter_that_contains_a_key_is_not_repeated(
    caller: ApiClient, secret: str, query: str
) -> None:
    response = caller.get("/v1/me?" + query.format(secret, tail=secret[9:]))
    assert error_code(response) == "unknown_field"
    assert response.json()["error"]["param"] == ("api_key" if query == "api_key={}" else None)
    assert secret[9:] not in response.content.decode()


def test_more_parameters_than_django_allows_are_a_bad_request(caller: ApiClient) -> None:
    assert error_code(caller.get("/v1/me?" + "a&" * 2000)) == "bad_request"


def test_unknown_parameter_precedes_422_and_a_replay(caller: ApiClient) -> None:
    key = {"Idempotency_Key": "one-request"}
    assert caller.validate("deliverable@sandbox.test", **key).status_code == 200
    for name in (b"deliverable", b"risky"):
        body = b'{"email": "%s@sandbox.test"}' % name
        response = caller.call("POST", "/v1/validate?form=1", body, **key)
        assert error_code(response) == "unknown_field"
