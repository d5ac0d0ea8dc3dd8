"""What keys may do. Each operation requires one scope: `describe` in rest/schema.py."""

# With a sentence for forms and docs.
SCOPES = {
    "validate": "Validate addresses, one or up to 100 per call, read results, and send feedback",
    "lists:read": "Read lists and download their results",
    "lists:write": "Upload, start, change, and delete lists",
    "domains:read": "Read the account's own domains",
    "domains:write": "Replace the account's own domains",
    "usage:read": "Read the balance and usage",
    "events:read": "Read events",
    "webhooks:write": "Create, read, change, and delete webhooks",
}
VALIDATION_ONLY = ["validate"]


def describe_scopes(scopes: list[str] | None) -> str:
    if scopes is None:
        return "Full access"
    if scopes == VALIDATION_ONLY:
        return "Validation only"
    return ", ".join(scopes)


def is_wider(scopes: list[str] | None, before: list[str] | None) -> bool:
    """Return whether the first allow something that the second don't."""
    if before is None:
        return False
    return scopes is None or not set(scopes) <= set(before)
