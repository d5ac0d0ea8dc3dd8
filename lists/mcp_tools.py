"""The tools of POST /v1/mcp for lists."""

from apikeys.rest.mcp.tools import IDEMPOTENCY_KEY, Tool

GET_LIST = Tool(
    name="get_list",
    title="Get a list of addresses",
    description="Read the state, progress, counts and costs of a list. Free.",
    method="GET",
    path="/v1/lists/{list_id}",
    operation="show-list",
    arguments={
        "list_id": {"type": "string", "pattern": "^lst_[A-Za-z0-9]{20}$"},
        "wait": {
            "type": "integer",
            "minimum": 0,
            "maximum": 20,
            "description": "Seconds to wait for another state.",
        },
    },
    required=("list_id",),
    sent=("wait",),
    is_read_only=True,
)
CLEAN_LIST = Tool(
    name="clean_list",
    title="Validate a list of addresses in the background",
    description="Create a list of up to 10,000 email addresses and start it. Each definite verdict "
    "costs 1 credit; unknown results, duplicates and addresses at sandbox.test are free. The list "
    "doesn't start if it can cost more than max_credits. Ask the user for permission, then set "
    "confirm. Follow it with get_list; results are in the dashboard and at /v1/lists.",
    method="POST",
    path="/v1/lists",
    operation="create-list",
    arguments={
        "emails": {
            "type": "array",
            "items": {"type": "string", "maxLength": 320},
            "minItems": 1,
            "maxItems": 10_000,
        },
        "name": {"type": "string", "maxLength": 100},
        "max_credits": {
            "type": "integer",
            "minimum": 1,
            "description": "The most that the list may cost.",
        },
        "confirm": {"type": "boolean", "description": "True if the user agreed to the price."},
        "idempotency_key": IDEMPOTENCY_KEY,
    },
    required=("emails", "max_credits", "confirm"),
    sent=("emails", "name", "max_credits"),
    constants={"start": True},
)
