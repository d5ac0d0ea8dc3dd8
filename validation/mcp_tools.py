"""The tools of POST /v1/mcp that validate addresses."""

from apikeys.rest.mcp.tools import IDEMPOTENCY_KEY, Tool
from validation.batches.services import MAX_ADDRESSES

_PRICE = "A definite verdict costs 1 credit. Unknown results and sandbox.test are free."
EMAIL = {"type": "string", "minLength": 1, "maxLength": 320}
MAX_CREDITS = {
    "type": "integer",
    "minimum": 1,
    "description": "The call is refused, free of charge, if it can cost more credits.",
}

VALIDATE_EMAIL = Tool(
    name="validate_email",
    title="Validate an email address",
    description="Say whether an email address can receive mail: a verdict, its reasons, and a "
    f"correction of typos. {_PRICE}",
    method="POST",
    path="/v1/validate",
    operation="validate",
    arguments={
        "email": {**EMAIL, "description": "The address, exactly as it was typed."},
        "max_credits": MAX_CREDITS,
        "idempotency_key": IDEMPOTENCY_KEY,
    },
    required=("email",),
    sent=("email",),
)
VALIDATE_EMAILS = Tool(
    name="validate_emails",
    title="Validate up to 100 email addresses",
    description=f"Validate up to {MAX_ADDRESSES} email addresses, in their order. {_PRICE} "
    "Repeated addresses cost once. The whole call is charged, or nothing.",
    method="POST",
    path="/v1/validate/batch",
    operation="validate-batch",
    arguments={
        "emails": {"type": "array", "items": EMAIL, "minItems": 1, "maxItems": MAX_ADDRESSES},
        "max_credits": MAX_CREDITS,
        "idempotency_key": IDEMPOTENCY_KEY,
    },
    required=("emails", "max_credits"),
    sent=("emails",),
)
