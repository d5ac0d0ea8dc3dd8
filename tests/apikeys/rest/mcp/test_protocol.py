"""The messages of the Model Context Protocol: the stateless revision, and the earlier handshake."""

import json
from typing import Any

import pytest

from tests.support.api_client import ApiClient

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

VERSION = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
}
SANDBOX = {"name": "validate_email", "arguments": {"email": "deliverable@sandbox.test"}}


def send(caller: ApiClient, method: str, params: Any = None, **headers: str) -> Any:
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": "a-1", "method": method}
    if params is not None:
        message["params"] = params
    return caller.send_json("POST", "/v1/mcp", message, **headers)


def send_stateless(caller: ApiClient, method: str, params: Any = None, **headers: str) -> Any:
    params = {**(params or {}), "_meta": META}
    named = {"Mcp_Name": params["name"]} if "name" in params else {}
    headers = {"MCP_Protocol_Version": VERSION, "Mcp_Method": method, **named, **headers}
    return send(caller, method, params, **headers)


def error_of(response: Any) -> tuple[int, int]:
    document = response.json()
    assert document["jsonrpc"] == "2.0"
    return response.status_code, document["error"]["code"]


def test_stateless_requests_need_no_handshake(caller: ApiClient) -> None:
    discovered = send_stateless(caller, "server/discover").json()["result"]
    assert discovered["supportedVersions"][0] == VERSION
    assert discovered["capabilities"] == {"tools": {}}
    listed = send_stateless(caller, "tools/list").json()["result"]
    assert [tool["name"] for tool in listed["tools"]] == [
        *("validate_email", "validate_emails", "get_credits", "get_list", "clean_list")
    ]
    assert (listed["ttlMs"], listed["cacheScope"]) == (60_000, "private")
    response = send_stateless(caller, "tools/call", SANDBOX)
    assert response.json()["result"]["structuredContent"]["verdict"] == "deliverable"
    assert "Mcp-Session-Id" not in response.headers


def test_clients_of_earlier_revisions_are_answered(caller: ApiClient) -> None:
    for asked, answered in (("2025-06-18", "2025-06-18"), ("2099-01-01", "2025-11-25")):
        params = {"protocolVersion": asked, "capabilities": {}, "clientInfo": {}}
        assert send(caller, "initialize", params).json()["result"]["protocolVersion"] == answered
    notification = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    response = caller.send_json("POST", "/v1/mcp", notification)
    assert (response.status_code, response.content) == (202, b"")
    response = send(caller, "tools/call", SANDBOX, MCP_Protocol_Version="2025-06-18")
    assert response.json()["result"]["isError"] is False
    assert send(caller, "ping").json()["result"] == {}


def test_headers_that_contradict_the_body_are_refused(caller: ApiClient) -> None:
    for headers in (
        *({"MCP_Protocol_Version": "2099-01-01"}, {"Mcp_Method": "tools/list"}),
        {"Mcp_Name": "get_credits"},
    ):
        response = send_stateless(caller, "tools/call", SANDBOX, **headers)
        assert error_of(response) == (400, -32020), headers
    earlier = {"MCP_Protocol_Version": "2025-11-25"}
    assert send_stateless(caller, "tools/call", SANDBOX, **earlier).status_code == 200


def test_unknown_revisions_name_those_that_are_known(caller: ApiClient) -> None:
    response = send(caller, "tools/list", {}, MCP_Protocol_Version="2099-01-01")
    assert error_of(response) == (400, -32022)
    assert response.json()["error"]["data"]["supported"][0] == VERSION
    response = send(caller, "tools/list", {}, MCP_Protocol_Version=VERSION)
    assert error_of(response) == (400, -32602)


def test_messages_that_are_no_requests_get_the_errors_of_json_rpc(caller: ApiClient) -> None:
    call, ping = b'{"jsonrpc":"2.0","id":1,"method":"tools/call"', b'"method":"ping"'
    ids = (b"null", b"true", b"[]", b"99999999999999999999")
    for error, bodies in {
        (400, -32700): (b"", b"{", b"[" * 200_000),
        (400, -32600): (
            *(b"[]", b'[{"jsonrpc":"2.0","id":1,%b}]' % ping, b'{"id":1,%b}' % ping),
            *(b'{"jsonrpc":"2.0","id":%b,%b}' % (one, ping) for one in ids),
            *(b'{"jsonrpc":"2.0","id":1,"method":7}', b'{"jsonrpc":"2.0","id":1,"result":{}}'),
            b'{"jsonrpc":"2.0","id":1,%b,"params":[]}' % ping,
        ),
        (404, -32601): (b'{"jsonrpc":"2.0","id":1,"method":"resources/list"}',),
        (400, -32602): (
            *(call + b"}", call + b',"params":{"name":["a"]}}'),
            call + b',"params":{"name":"get_credits","arguments":[1]}}',
        ),
    }.items():
        for body in bodies:
            response = caller.call("POST", "/v1/mcp", body)
            assert error_of(response) == error, body[:80]
            assert "X-RateLimit-Remaining" in response.headers
    odd_meta = b'{"jsonrpc":"2.0","id":1,%b,"params":{"_meta":[]}}' % ping
    assert caller.call("POST", "/v1/mcp", odd_meta).status_code == 200


def test_id_comes_back_as_it_was_sent(caller: ApiClient) -> None:
    for message_id in ("", "ä" * 1_000, -1, 10**15, 2**63 - 1):
        message = {"jsonrpc": "2.0", "id": message_id, "method": "ping"}
        body = json.dumps(message).encode()
        assert caller.call("POST", "/v1/mcp", body).json()["id"] == message_id


def test_misplaced_key_is_not_repeated(caller: ApiClient, secret: str) -> None:
    for response in (
        send(caller, secret),
        send(caller, "ping", {}, MCP_Protocol_Version=secret),
        send(caller, "tools/call", {"name": secret}),
        send(caller, "tools/call", {"name": "get_credits", "arguments": {secret: 1}}),
    ):
        assert secret[:20] not in response.content.decode()


def test_only_post_is_allowed(caller: ApiClient) -> None:
    response = caller.get("/v1/mcp")
    assert (response.status_code, response.headers["Allow"]) == (405, "POST")
