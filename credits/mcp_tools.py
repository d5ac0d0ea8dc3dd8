"""The tool of POST /v1/mcp that reads the balance."""

from apikeys.rest.mcp.tools import Tool

GET_CREDITS = Tool(
    name="get_credits",
    title="Get the balance of credits",
    description="Read the account's balance of credits, its plan, and its next credits. Free.",
    operation="show-credits",
    method="GET",
    path="/v1/credits",
    is_read_only=True,
)
