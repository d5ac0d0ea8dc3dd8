"""Misplaced keys: the 401 says where the key was seen, without repeating it."""

import base64
from typing import Any

import pytest

from tests.support.api_client import ApiClient, error_code

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]


def basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def refusal(response: Any, secret: str) -> tuple[str, str | None]:
    """Return the message and `details.key_seen_in`."""
    assert error_code(response) == "missing_api_key"
    assert response.headers["WWW-Authenticate"] == 'Bearer realm="api"'
    assert secret[9:] not in response.content.decode() + str(response.headers)
    error = response.json()["error"]
    assert error["message"].count(". ") == 1
    return error["message"], error["details"].get("key_seen_in")


HEADERS = {"X-API-Key": "x_api_key_header", "x-api-key": "x_api_key_header"}
HEADERS |= {"Api-Key": "api_key_header"}
SCHEMES = ["{}", "Token {}", "ApiKey {}", "Bearer: {}", "key={}", "Bearer{}"]
QUERIES = ["api_key={}", "{}", "{}=1", "a=b&token={}", "key=%73vc_live_{tail}"]


@pytest.mark.parametrize(
    ("query", "headers", "place", "words"),
    [
        *(("", {name: "{}"}, place, name.lower()) for name, place in HEADERS.items()),
        *(
            ("", {"Authorization": text}, "authorization_header", "without the bearer scheme")
            for text in SCHEMES
        ),
        # As URLs are logged, the key has to be replaced.
        *((query, {}, "query_string", "query string") for query in QUERIES),
        *((query, {}, "query_string", "replace") for query in QUERIES),
    ],
)
def test_misplaced_key_is_located(
    secret: str, query: str, headers: dict[str, str], place: str, words: str
) -> None:
    sent = {name: value.format(secret) for name, value in headers.items()}
    path = "/v1/me?" + query.format(secret, tail=secret[9:])
    message, seen_in = refusal(ApiClient().get(path, **sent), secret)
    assert seen_in == place
    assert words in message.lower()


@pytest.mark.parametrize("as_user", [True, False])
def test_key_in_http_basic_is_located(secret: str, as_user: bool) -> None:
    authorization = basic(secret, "") if as_user else basic("api", secret)
    message, seen_in = refusal(ApiClient().get("/v1/me", Authorization=authorization), secret)
    assert seen_in == "http_basic"
    assert "HTTP Basic" in message


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X-API-Key": "of another service"},
        {"Authorization": "Basic ???"},
        {"Authorization": "Basic /w=="},
        {"Authorization": basic("jane", "correct horse")},
        {"Authorization": "Token abc"},
    ],
)
def test_other_credentials_are_a_missing_key(headers: dict[str, str]) -> None:
    response = ApiClient().get("/v1/me?key=abc", **headers)
    assert response.json()["error"]["details"] == {}
    assert error_code(response) == "missing_api_key"


def test_misplaced_key_counts_only_against_the_address(secret: str, caller: ApiClient) -> None:
    for _ in range(60):
        assert ApiClient().get("/v1/me", X_API_Key=secret).status_code == 401
    assert ApiClient().get("/v1/me", X_API_Key=secret).status_code == 429
    # A valid bearer token works despite a misplaced key.
    assert caller.get("/v1/me", X_API_Key=secret).headers["X-RateLimit-Remaining"] == "59"
