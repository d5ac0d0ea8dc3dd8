"""Results as the API description shows them: made by the sandbox, so that they cannot be wrong."""

from typing import Any

from validation.engine.check import Engine
from validation.engine.sandbox import DOMAIN, sandbox_finding

# Without staff's domains and resolvers: it asks nobody.
_engine = Engine()


def sandbox_result(word: str) -> dict[str, Any]:
    return {
        "id": "val_01KAHJ8Q6YB3T5W7XNMV0ZRCDE",
        "created_at": "2026-11-20T18:30:00.123Z",
        "sandbox": True,
        **sandbox_finding(_engine.check_without_dns(f"{word}@{DOMAIN}"), word).document(),
        "duration_ms": 14,
        "dns_cached": None,
        "credits": {"charged": 0, "remaining": 4211},
    }


EXAMPLES = {
    "Deliverable": sandbox_result("deliverable"),
    "Risky: a throw-away address": sandbox_result("disposable"),
    "Undeliverable: no such mailbox": sandbox_result("mailbox_not_found"),
    "Undeliverable: no address at all": sandbox_result("invalid_syntax"),
    "Unknown, and free": sandbox_result("dns_timeout"),
}
