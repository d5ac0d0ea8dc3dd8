"""Tools of POST /v1/mcp are operations: same limits, charges, scopes, replays and log."""

from typing import Any

import jsonschema
import pytest
from django.utils import timezone

from accounts.models import Account
from apikeys import services
from apikeys.models import ApiKey
from apikeys.rest.mcp.tools import tools
from credits.models import Wallet
from credits.wallet.charges import get_balance
from lists.models import AddressList
from tests.support.api_client import ApiClient, error_code
from validation.models import LogEntry

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

DEFINITE = "no address"


def call_tool(caller: ApiClient, name: str, arguments: Any = None, **headers: str) -> Any:
    params = {"name": name, "arguments": {} if arguments is None else arguments}
    message = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
    return caller.send_json("POST", "/v1/mcp", message, **headers)


def result_of(response: Any) -> dict[str, Any]:
    assert response.status_code == 200, response.content
    document = response.json()
    assert (document["jsonrpc"], document["id"]) == ("2.0", 7)
    result: dict[str, Any] = document["result"]
    assert result["resultType"] == "complete"
    return result


def refusal_of(response: Any) -> str:
    """Return the code of a refusal, which is a result that the assistant reads."""
    result = result_of(response)
    assert result["isError"] is True
    assert response.headers["X-Request-Id"] == result["structuredContent"]["error"]["request_id"]
    return str(result["structuredContent"]["error"]["code"])


def test_result_is_that_of_the_operation_and_costs_the_same(
    caller: ApiClient, account: Account
) -> None:
    response = call_tool(caller, "validate_email", {"email": DEFINITE})
    result = result_of(response)
    verdict = result["structuredContent"]
    assert (verdict["verdict"], verdict["credits"]["charged"]) == ("undeliverable", 1)
    assert result["content"] == [{"type": "text", "text": result["content"][0]["text"]}]
    assert caller.get(f"/v1/validations/{verdict['id']}").json()["email"] == DEFINITE
    assert response.headers["X-Credits-Cost"] == "1"
    assert get_balance(account) == 99
    entry = LogEntry.objects.get(result_id=verdict["id"])
    assert (entry.path, entry.status, entry.cost) == ("/v1/validate", 200, 1)
    assert entry.request_id == response.headers["X-Request-Id"]


def test_results_fit_the_output_schemas_of_the_tools(caller: ApiClient) -> None:
    calls: dict[str, dict[str, Any]] = {
        "validate_email": {"email": "possible_typo@sandbox.test"},
        "validate_emails": {"emails": [DEFINITE, "a@sandbox.test"], "max_credits": 1},
        "get_credits": {},
        "clean_list": {"emails": ["a@sandbox.test"], "max_credits": 1, "confirm": True},
    }
    for tool in tools:
        if tool.name in calls:
            result = result_of(call_tool(caller, tool.name, calls[tool.name]))
            assert result["isError"] is False, result
            schema = tool.describe()["outputSchema"]
            jsonschema.validate(result["structuredContent"], schema)
            jsonschema.validate(calls[tool.name], tool.describe()["inputSchema"])


def test_repeated_idempotency_key_costs_nothing(caller: ApiClient, account: Account) -> None:
    arguments = {"emails": [DEFINITE], "max_credits": 5, "idempotency_key": "order-1"}
    first = call_tool(caller, "validate_emails", arguments)
    again = call_tool(caller, "validate_emails", arguments)
    in_header = call_tool(
        caller,
        "validate_emails",
        {"emails": [DEFINITE], "max_credits": 5},
        Idempotency_Key="order-1",
    )
    assert again.content == in_header.content == first.content
    assert again.headers["Idempotent-Replayed"] == "true"
    assert get_balance(account) == 99
    # The operation itself knows the key, too.
    response = caller.validate_batch([DEFINITE], Idempotency_Key="order-1")
    assert response.headers["Idempotent-Replayed"] == "true"
    other = call_tool(caller, "validate_emails", {**arguments, "emails": ["another"]})
    assert refusal_of(other) == "idempotency_key_reused"


def test_call_that_can_cost_more_than_allowed_is_not_made(
    caller: ApiClient, account: Account
) -> None:
    arguments = {"emails": ["no address", "none either"], "max_credits": 1}
    assert refusal_of(call_tool(caller, "validate_emails", arguments)) == "max_credits_exceeded"
    assert get_balance(account) == 100
    assert not LogEntry.objects.filter(cost=1).exists()


def test_empty_balance_is_a_refusal_that_the_assistant_reads(
    caller: ApiClient, account: Account
) -> None:
    Wallet.objects.filter(account=account).update(balance=0)
    response = call_tool(caller, "validate_email", {"email": DEFINITE})
    assert refusal_of(response) == "insufficient_credits"


def test_spending_tools_say_their_price_and_ask_for_a_limit() -> None:
    for tool in tools:
        described = tool.describe()
        if tool.is_read_only:
            assert described["description"].endswith("Free.")
            assert described["annotations"]["readOnlyHint"] is True
        else:
            assert "costs 1 credit" in described["description"]
            assert "max_credits" in described["inputSchema"]["properties"]
    required = {tool.name: tool.required for tool in tools}
    assert "max_credits" in required["validate_emails"]
    assert {"max_credits", "confirm"} <= {*required["clean_list"]}


def test_list_needs_the_consent_of_the_user(caller: ApiClient) -> None:
    arguments = {"emails": ["a@sandbox.test"], "max_credits": 9, "confirm": False}
    assert refusal_of(call_tool(caller, "clean_list", arguments)) == "confirmation_required"
    assert not AddressList.objects.exists()
    created = result_of(call_tool(caller, "clean_list", {**arguments, "confirm": True}))
    list_id = created["structuredContent"]["id"]
    assert AddressList.objects.get(public_id=list_id).max_credits == 9
    found = result_of(call_tool(caller, "get_list", {"list_id": list_id}))
    assert found["structuredContent"]["id"] == list_id
    for wait, code in ((99, "invalid_field"), ("1&a=b", "invalid_field")):
        refused = call_tool(caller, "get_list", {"list_id": list_id, "wait": wait})
        assert refusal_of(refused) == code


def test_lists_of_other_accounts_are_not_found(caller: ApiClient, other_caller: ApiClient) -> None:
    arguments = {"emails": ["a@sandbox.test"], "max_credits": 9, "confirm": True}
    created = result_of(call_tool(other_caller, "clean_list", arguments))
    list_id = created["structuredContent"]["id"]
    for wrong in (list_id, "lst_1", "../me", "", 7, f"{list_id}/download"):
        assert refusal_of(call_tool(caller, "get_list", {"list_id": wrong})) == "not_found"


def test_key_sees_and_calls_only_the_tools_of_its_scopes(account: Account) -> None:
    _, secret = services.create_key(account=account, name="A", scopes=["usage:read"], actor=None)
    caller = ApiClient(secret)
    listed = caller.send_json(
        "POST", "/v1/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    )
    assert [tool["name"] for tool in listed.json()["result"]["tools"]] == ["get_credits"]
    response = call_tool(caller, "validate_email", {"email": DEFINITE})
    assert (response.status_code, error_code(response)) == (403, "insufficient_scope")


def test_batch_counts_each_address_for_the_rate_limit(caller: ApiClient) -> None:
    arguments = {"emails": [f"{number}@sandbox.test" for number in range(50)], "max_credits": 50}
    response = call_tool(caller, "validate_emails", arguments)
    assert result_of(response)["isError"] is False
    assert response.headers["X-RateLimit-Remaining"] == "10"
    refused = call_tool(caller, "validate_emails", arguments)
    assert (refused.status_code, error_code(refused)) == (429, "rate_limit_exceeded")
    assert refused.json()["error"]["details"]["needed"] == 49
    assert int(refused.headers["Retry-After"]) > 0


def test_refusals_before_any_tool_are_http_errors(key: ApiKey, secret: str) -> None:
    response = call_tool(ApiClient("svc_live_wrong"), "get_credits")
    assert (response.status_code, error_code(response)) == (401, "invalid_api_key")
    too_large = call_tool(ApiClient(secret), "validate_email", {"email": "a" * 410_000})
    assert (too_large.status_code, error_code(too_large)) == (413, "request_too_large")
    Account.objects.filter(pk=key.account_id).update(suspended_at=timezone.now())
    response = call_tool(ApiClient(secret), "get_credits")
    assert (response.status_code, error_code(response)) == (403, "account_suspended")


def test_wrong_arguments_are_refused_like_wrong_fields(caller: ApiClient, account: Account) -> None:
    cases: list[tuple[str, dict[str, Any], str]] = [
        ("validate_email", {}, "missing_field"),
        ("validate_email", {"email": 7}, "invalid_field"),
        ("validate_email", {"email": "a", "emial": "b"}, "unknown_field"),
        ("validate_email", {"email": "a", "max_credits": 0}, "invalid_field"),
        ("validate_email", {"email": "a", "max_credits": True}, "invalid_field"),
        ("validate_email", {"email": "a", "idempotency_key": "ä"}, "invalid_field"),
        ("validate_email", {"email": "a", "idempotency_key": {"a": 1}}, "invalid_field"),
        ("validate_email", {"email": "a", "idempotency_key": 1}, "invalid_field"),
        ("validate_email", {"email": "a", "idempotency_key": None}, "invalid_field"),
        ("validate_email", {"email": 10**30}, "invalid_field"),
        ("validate_emails", {"emails": ["a"]}, "missing_field"),
        ("validate_emails", {"emails": ["a"] * 101, "max_credits": 200}, "invalid_field"),
        ("get_credits", {"a": 1}, "unknown_field"),
        ("clean_list", {"emails": [], "max_credits": 1, "confirm": True}, "invalid_field"),
        ("clean_list", {"emails": ["a"], "max_credits": 10**30, "confirm": True}, "invalid_field"),
    ]
    for name, arguments, code in cases:
        assert refusal_of(call_tool(caller, name, arguments)) == code, arguments
    unclear = {"emails": ["a"], "max_credits": 1, "confirm": "yes"}
    assert refusal_of(call_tool(caller, "clean_list", unclear)) == "confirmation_required"
    assert get_balance(account) == 100
