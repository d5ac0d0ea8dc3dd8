"""POST /v1/validate: request parsing and the fields of a result."""

from typing import Any

import pytest

from engine.verdicts.finding import CHECKS
from tests.support.api_client import ApiClient, refusal
from validation.results.serializers import ResultSerializer

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

FIELDS = (
    *("id", "created_at", "sandbox", "email", "normalized", "canonical", "verdict", "reason"),
    *("reasons", "score", "evidence", "safe_to_send", "accept_for_signup", "did_you_mean"),
    *("lookalike_of", "retry_after_s", "local_part", "tag", "domain", "ascii_domain"),
    "registrable_domain",
    *("checks", "syntax_error", "mx", "domain_auth", "smtp", "lists", "account_list"),
    *("duration_ms", "dns_cached", "credits"),
)


def test_result_has_every_field_in_the_documented_order(caller: ApiClient) -> None:
    result = caller.validate("Jane.Doe+news@Shop.Example").json()
    assert tuple(result) == FIELDS == tuple(ResultSerializer().fields)
    assert tuple(result["checks"]) == CHECKS
    assert result["email"] == "Jane.Doe+news@Shop.Example"
    assert result["normalized"] == "Jane.Doe+news@shop.example"
    assert result["canonical"] == "jane.doe+news@shop.example"
    assert (result["local_part"], result["tag"]) == ("Jane.Doe+news", "news")
    assert result["credits"] == {"charged": 1, "held": 0, "remaining": 99}
    assert result["id"].startswith("val_")
    assert result["created_at"].endswith("Z")


@pytest.mark.both
def test_invalid_syntax_is_a_result_and_not_an_error(caller: ApiClient) -> None:
    for email in (
        *("jane", "jane@", "@shop.example", "jane@shop", "jane@gmail,com", " jane@shop.example"),
        *("jane@shop.example ", "a@b@shop.example", "jane@shop..example", "\0", "a\0@shop.example"),
        *("jane@shop.example\n", "\u202ejane@shop.example", "Jane <jane@shop.example>", "😀"),
        *("x" * 320, "x" * 65 + "@shop.example", "a@" + "x" * 64 + ".example", "\ufeff"),
        *("a@" + "xn--" * 60 + ".com", "jane@[127.0.0.1]", "[" * 300, "\u0300@shop.example"),
    ):
        response = caller.validate(email)
        result = response.json()
        assert (response.status_code, result["email"]) == (200, email)
        assert (result["verdict"], result["reason"]) == ("undeliverable", "invalid_syntax")
        decisions = (result["score"], result["safe_to_send"], result["accept_for_signup"])
        assert decisions == (0, False, False)
        assert all(result[name] is None for name in FIELDS[14:20] if name != "retry_after_s")
        assert result["checks"] == {**dict.fromkeys(CHECKS), "syntax": False}
        nothing = dict.fromkeys(("provider", "fallback", "gateway", "ipv4"))
        assert result["mx"] == {**nothing, "records": []}
        assert result["syntax_error"]["code"]
        assert result["syntax_error"]["message"].endswith(".")


def test_wrong_body_is_refused_with_its_first_error(caller: ApiClient) -> None:
    for body, code, param in (
        *((body, "invalid_json", None) for body in (b"", b"{", b'"\\ud800"', b"\xff")),
        (b'{"email": "a", "email": "a"}', "invalid_json", None),
        *((body, "missing_field", "email") for body in (b"{}", b'{"Email": "a@b.co"}')),
        *((body, "invalid_field", None) for body in (b"[]", b'"a@b.co"', b"1", b"null", b"true")),
        (b'[{"email": "a@b.co"}]', "invalid_field", None),
        # Too large for a float.
        (b'{"email": 1e999}', "invalid_field", "email"),
        (b'{"email": "a@b.co", "emial": 1}', "unknown_field", "emial"),
        # Only the first of several errors is reported.
        (b'{"x": 1}', "missing_field", "email"),
        (b'{"x": 1, "email": 1}', "invalid_field", "email"),
        (b'{"x": 1, "check": 1}', "missing_field", "email"),
        (b'{"x": 1, "email": "a@b.co", "check": 1}', "invalid_field", "check"),
    ):
        assert refusal(caller.send(body)) == (400, code, param), body


def test_email_of_the_wrong_type_or_length_is_an_invalid_field(caller: ApiClient) -> None:
    wrong: list[Any] = [None, 1, 1.5, True, [], ["a@b.co"], {}, "", "x" * 321, "😀" * 321]
    for email in wrong:
        assert refusal(caller.validate(email)) == (400, "invalid_field", "email"), email
    assert caller.validate("😀" * 320).status_code == 200


def test_several_addresses_are_refused_with_a_pointer_to_batches(caller: ApiClient) -> None:
    for name, code in (("email", "invalid_field"), ("emails", "missing_field")):
        response = caller.send_json("POST", "/v1/validate", {name: ["a", "b"]})
        assert refusal(response) == (400, code, "email")
        assert "use POST /v1/validate/batch" in response.json()["error"]["message"]


def test_unsafe_field_name_is_not_echoed(caller: ApiClient) -> None:
    for name in ("svc_live_abc", "a b", "x" * 65, "\\u202e", ""):
        response = caller.send(f'{{"email": "a@b.co", "{name}": 1}}'.encode())
        assert refusal(response) == (400, "unknown_field", None), name


def test_body_of_8_kb_is_accepted_and_a_larger_one_is_refused(caller: ApiClient) -> None:
    body = b'{"email": "a@b.co"}'
    assert caller.send(body.ljust(8192)).status_code == 200
    assert refusal(caller.send(body.ljust(8193))) == (413, "request_too_large", None)


def test_trailing_slash_makes_no_difference(caller: ApiClient) -> None:
    response = caller.call("POST", "/v1/validate/", b'{"email": "a@b.co"}')
    assert response.status_code == 200
