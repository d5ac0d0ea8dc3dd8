from typing import Any


def openapi_settings(name: str, base_url: str, support_email: str, version: str) -> dict[str, Any]:
    return {
        "TITLE": f"{name} API",
        "DESCRIPTION": "Find out whether an email address can receive mail.",
        "VERSION": version,
        "OAS_VERSION": "3.1.0",
        "SERVERS": [{"url": base_url}],
        "CONTACT": {"email": support_email},
        "EXTERNAL_DOCS": {"url": f"{base_url}/docs/"},
        "TAGS": [
            {"name": "Validation", "description": "Validate addresses. This costs credits."},
            {
                "name": "Lists",
                "description": "Validate files with up to millions of addresses in the background.",
            },
            {
                "name": "Domains",
                "description": "Read and replace the domains that your account allows or denies. "
                "This is free.",
            },
            {"name": "Events", "description": "Read what happened in your account. This is free."},
            {
                "name": "Webhooks",
                "description": "Let us send events to your server, and replay what it missed. This "
                "is free.",
            },
            {
                "name": "Account",
                "description": "Read the balance, usage, and rate limit of a key. This is free.",
            },
        ],
        "POSTPROCESSING_HOOKS": [
            "apikeys.rest.schema.complete_schema",
            "apikeys.events.openapi.add_webhooks",
        ],
        "DISABLE_DOCSTRING_DESCRIPTIONS": True,
        "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
        # Keep the URL table's order.
        "SORT_OPERATIONS": False,
    }
