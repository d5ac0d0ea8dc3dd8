"""The tools of POST /v1/mcp that validate addresses."""

from apikeys.rest.mcp.tools import Tool

_PRICE = "A definite verdict costs 1 credit. Unknown results and sandbox.test are free."

VALIDATE_EMAIL = Tool(
    name="validate_email",
    title="Validate an email address",
    description="Say whether an email address can receive mail: a verdict, its reasons, and a "
    f"correction of typos. {_PRICE}",
    operation="validate",
    method="POST",
    path="/v1/validate",
    arguments=("email", "max_credits", "idempotency_key"),
    required=("email",),
)
VALIDATE_EMAILS = Tool(
    name="validate_emails",
    title="Validate up to 100 email addresses",
    description=f"Validate up to 100 email addresses, in their order. {_PRICE} Repeated addresses "
    "cost once. The whole call is charged, or nothing.",
    operation="validate-batch",
    method="POST",
    path="/v1/validate/batch",
    arguments=("emails", "max_credits", "idempotency_key"),
    required=("emails", "max_credits"),
)
