"""The official Python SDK as a client of POST /v1/mcp."""

import asyncio
import os
import sys
from typing import Any

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.servers.books import fetch_number
from tests.servers.keys import make_key
from tests.servers.product import ROOT, Product

pytestmark = pytest.mark.process

CHARGED = "SELECT SUM(credits) FROM credits_usehour"
MODES = ["auto", "legacy"]
TOOLS = ["validate_email", "validate_emails", "get_credits", "get_list", "clean_list"]


async def assert_tools_work(client: Any, site: Product) -> None:
    """Use each tool as an assistant would."""
    assert [tool.name for tool in (await client.list_tools()).tools] == TOOLS
    typo = await client.call_tool("validate_email", {"email": "possible_typo@sandbox.test"})
    assert typo.structured_content["did_you_mean"] == "possible_typo@mailbox.test"
    broke = await client.call_tool("validate_email", {"email": "insufficient_credits@sandbox.test"})
    assert broke.is_error
    assert broke.structured_content["error"]["code"] == "insufficient_credits"
    before = fetch_number(site, CHARGED)
    batch = {"emails": ["no address", "a@sandbox.test"], "max_credits": 1, "idempotency_key": "k"}
    for _ in range(2):
        found = await client.call_tool("validate_emails", batch)
        assert found.structured_content["credits"]["charged"] == 1
    assert fetch_number(site, CHARGED) == before + 1
    balance = await client.call_tool("get_credits", {})
    assert balance.structured_content["plan"] == "free"
    wanted = {"emails": ["deliverable@sandbox.test"], "max_credits": 1, "confirm": True}
    created = await client.call_tool("clean_list", wanted)
    list_id = created.structured_content["id"]
    for _ in range(20):
        followed = await client.call_tool("get_list", {"list_id": list_id, "wait": 5})
        if followed.structured_content["state"] == "completed":
            return
    raise AssertionError(followed)


@pytest.mark.parametrize("mode", MODES)
def test_tools_work_through_the_command_line(site: Product, mode: Any) -> None:
    env = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT / "clients" / "python" / "src"),
        "SVC_API_KEY": make_key(site, f"{mode}@stdio.example"),
        "SVC_BASE_URL": site.url,
    }
    arguments = ["-m", "emailvalidation.cli", "mcp"]
    server = StdioServerParameters(command=sys.executable, args=arguments, env=env)

    async def run() -> None:
        async with Client(stdio_client(server), mode=mode) as client:
            await assert_tools_work(client, site)

    asyncio.run(run())


@pytest.mark.parametrize("mode", MODES)
def test_tools_work_over_http(site: Product, mode: Any) -> None:
    async def run() -> None:
        headers = {"Authorization": f"Bearer {make_key(site, f'{mode}@sdk.example')}"}
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
            transport = streamable_http_client(f"{site.url}/v1/mcp", http_client=http)
            async with Client(transport, mode=mode) as client:
                await assert_tools_work(client, site)

    asyncio.run(run())
