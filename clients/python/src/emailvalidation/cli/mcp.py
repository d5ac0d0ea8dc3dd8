from __future__ import annotations

import argparse
import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Optional

from emailvalidation.cli.options import add_command as add
from emailvalidation.cli.options import open_client
from emailvalidation.cli.screen import Screen
from emailvalidation.client import Client
from emailvalidation.errors import EmailValidationError

_META = "io.modelcontextprotocol/protocolVersion"
_SERVER_ERROR = -32000
_NOTES = """\
Enter this command in your assistant's settings, with SVC_API_KEY and
SVC_BASE_URL in its environment. Messages are passed on to the service, one
JSON-RPC message per line.
"""


def add_command(commands: Any) -> None:
    about = "Let an assistant use the service, over standard input and output (MCP)."
    add(commands, "mcp", about, run, notes=_NOTES, has_json=False)


def run(options: argparse.Namespace, screen: Screen) -> None:
    lock = threading.Lock()
    with open_client(options, timeout=120) as client, ThreadPoolExecutor(8) as pool:

        def pass_on(line: str) -> None:
            answer = _ask(client, line)
            if answer is not None:
                with lock:
                    print(json.dumps(answer, ensure_ascii=False), flush=True)

        for line in sys.stdin:
            if line.strip():
                pool.submit(pass_on, line)


def _ask(client: Client, line: str) -> Optional[Any]:
    try:
        message = json.loads(line)
    except ValueError:
        return _error(None, -32700, "This isn't JSON.")
    is_request = isinstance(message, dict)
    message_id = message.get("id") if is_request else None
    try:
        response = client.request(
            "POST",
            "/v1/mcp",
            body=line.encode(),
            headers={"Content-Type": "application/json", **_routing(message if is_request else {})},
        )
    except EmailValidationError as error:
        if is_request and "id" not in message:
            return None
        code = int(error.code) if error.code.startswith("-32") else _SERVER_ERROR
        facts = {"code": error.code, "status": error.status, "details": error.details}
        return _error(message_id, code, error.message, facts if code == _SERVER_ERROR else None)
    return response.data


def _routing(message: dict[str, Any]) -> dict[str, str]:
    """Return the headers that repeat parts of a message of the stateless revision."""
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    version = meta.get(_META) if isinstance(meta, dict) else None
    if not isinstance(version, str) or params is None:
        return {}
    headers = {"MCP-Protocol-Version": version, "Mcp-Method": str(message.get("method"))}
    if isinstance(params.get("name"), str):
        headers["Mcp-Name"] = params["name"]
    return headers


def _error(message_id: object, code: int, text: str, data: object = None) -> Any:
    error: dict[str, object] = {"code": code, "message": text}
    if data is not None:
        error["data"] = data
    return {"jsonrpc": "2.0", "id": message_id, "error": error}
