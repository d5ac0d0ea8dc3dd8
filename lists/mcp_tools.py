"""The tools of POST /v1/mcp for lists."""

from apikeys.rest.mcp.tools import Tool

GET_LIST = Tool(
    name="get_list",
    title="Get a list of addresses",
    description="Read the state, progress, counts and costs of a list. Free.",
    operation="show-list",
    method="GET",
    path="/v1/lists/{list_id}",
    arguments=("list_id", "wait"),
    required=("list_id",),
    is_read_only=True,
)
CLEAN_LIST = Tool(
    name="clean_list",
    title="Validate a list of addresses in the background",
    description="Create a list of up to 10,000 email addresses and start it. Each definite verdict "
    "costs 1 credit; unknown results, duplicates and sandbox.test are free. The list doesn't start "
    "if it can cost more than max_credits. Ask the user for permission, then set confirm. Follow "
    "it with get_list; the results are in the dashboard and at /v1/lists.",
    operation="create-list",
    method="POST",
    path="/v1/lists",
    arguments=("emails", "name", "max_credits", "confirm", "idempotency_key"),
    required=("emails", "max_credits", "confirm"),
    constants={"start": True},
    knows_limit=True,
)
