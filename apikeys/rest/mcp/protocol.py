"""The Model Context Protocol of 2026-07-28, and the handshake of earlier revisions.

Each POST is one JSON-RPC message, and complete in itself: there are no sessions.
"""

from collections.abc import Mapping
from typing import Any

from django.conf import settings

from apikeys.errors import ApiError
from apikeys.request import ApiRequest
from apikeys.rest.openapi import Node
from apikeys.rest.request_body import read_object
from apikeys.rest.responses import ApiResponse, json_response
from runtime.logging.formatters import mask_secrets

STATELESS = "2026-07-28"
# With a handshake, whose answer doesn't depend on anything.
EARLIER = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
HEADER_MISMATCH, UNSUPPORTED_VERSION = -32020, -32022

_META = "io.modelcontextprotocol/"
_SERVER = {"name": "email-validation", "title": settings.PRODUCT_NAME, "version": "1.0.0"}


class RpcError(Exception):
    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data

    def response(self, message_id: object) -> ApiResponse:
        error: dict[str, object] = {"code": self.code, "message": self.message}
        if self.data is not None:
            error["data"] = self.data
        status = 404 if self.code == METHOD_NOT_FOUND else 400
        return json_response({"jsonrpc": "2.0", "id": message_id, "error": error}, status=status)


def read_message(request: ApiRequest) -> Node:
    try:
        message = read_object(request)
    except ApiError as error:
        if error.code == "invalid_json":
            raise RpcError(PARSE_ERROR, error.message) from None
        if error.code == "invalid_field":
            raise RpcError(INVALID_REQUEST, "The body must be one JSON-RPC message.") from None
        raise
    params = message.get("params", {})
    if (
        message.get("jsonrpc") != "2.0"
        or not isinstance(message.get("method"), str)
        or not isinstance(params, dict)
        or ("id" in message and type(message["id"]) not in (str, int))
    ):
        raise RpcError(INVALID_REQUEST, "The body must be one JSON-RPC request.")
    return {**message, "params": params}


def check_version(message: Node, headers: Mapping[str, str]) -> None:
    """Refuse a stateless request whose headers and envelope disagree, or of an unknown revision."""
    version = headers.get("HTTP_MCP_PROTOCOL_VERSION")
    meta = message["params"].get("_meta", {})
    in_meta = meta.get(f"{_META}protocolVersion") if isinstance(meta, dict) else None
    if version in EARLIER or (version is None and in_meta is None):
        return
    if version is not None and in_meta is None and version != STATELESS:
        raise _unsupported(version)
    if not isinstance(in_meta, str) or not isinstance(meta.get(f"{_META}clientCapabilities"), dict):
        text = f"params._meta needs {_META}protocolVersion and {_META}clientCapabilities."
        raise RpcError(INVALID_PARAMS, text)
    expected = {
        "MCP-Protocol-Version": in_meta,
        "Mcp-Method": message["method"],
        "Mcp-Name": message["params"].get("name"),
    }
    for name, value in expected.items():
        sent = headers.get(f"HTTP_{name.upper().replace('-', '_')}")
        if value is not None and sent != value:
            raise RpcError(HEADER_MISMATCH, f"The header {name} doesn't match the body.")
    if in_meta != STATELESS:
        raise _unsupported(in_meta)


def _unsupported(version: str) -> RpcError:
    data = {"supported": [STATELESS, *EARLIER], "requested": mask_secrets(version)[:40]}
    return RpcError(UNSUPPORTED_VERSION, "This revision isn't supported.", data)


def initialize(params: Node) -> Node:
    """Answer the handshake of earlier revisions."""
    asked = params.get("protocolVersion")
    return {"protocolVersion": asked if asked in EARLIER else EARLIER[0], **_describe_server()}


def discover() -> Node:
    return cacheable({"supportedVersions": [STATELESS, *EARLIER], **_describe_server()})


def _describe_server() -> Node:
    return {
        "capabilities": {"tools": {}},
        "serverInfo": _SERVER,
        "instructions": "Say whether email addresses can receive mail. Calls cost credits, as each "
        "tool says; addresses at sandbox.test are free. A verdict is deliverable, risky, "
        "undeliverable or unknown. The reference of fields and errors: "
        f"{settings.BASE_URL}/llms.txt",
    }


def cacheable(result: Node) -> Node:
    # What a key may do can change at any time.
    return complete({**result, "ttlMs": 60_000, "cacheScope": "private"})


def complete(result: Node) -> Node:
    return {**result, "resultType": "complete", "_meta": {f"{_META}serverInfo": _SERVER}}


def result_response(
    message_id: object, result: Any, headers: dict[str, str] | None = None
) -> ApiResponse:
    return json_response({"jsonrpc": "2.0", "id": message_id, "result": result}, headers)
