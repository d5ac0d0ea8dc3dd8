"""Fill in the Markdown of docs pages with facts from the code."""

import json
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string
from django.utils.module_loading import import_string
from django.utils.text import get_text_list

from accounts.events.types import offered_types
from apikeys import crypto
from apikeys.errors import REFUSALS, ApiRefusal
from apikeys.forms import GRACE_HOURS, LIFETIMES
from apikeys.rest import reference
from apikeys.rest.paths import max_body_bytes
from credits.models import Pack, Plan
from engine import MAX_SCORES, PROVIDERS, VERDICT_BY_REASON, Verdict
from lists.results.downloads import EXTRA_COLUMNS
from lists.uploads.limits import format_bytes
from lists.uploads.services import MAX_PART_BYTES
from reference.accuracy import load_accuracy
from reference.docs.changelog import read_changelog
from reference.docs.operations import describe_operations, find_operation, list_groups
from reference.docs.pages import DocsPage
from reference.docs.sentences import (
    LIST_STATES,
    describe_details,
    describe_result,
    describe_tax,
    list_codes,
)
from validation.batches.services import GRACE_SECONDS
from validation.results.sample_results import mistyped_result, sandbox_result

PACKAGES = ("accounts", "apikeys", "credits", "engine", "lists", "validation")
# The sandbox word whose full response the page about fields shows.
FULL_RESULT_WORD = "disposable"
_RATE_HEADERS = ("X-RateLimit", "RateLimit", "Retry-After")


@dataclass(frozen=True)
class CodePath:
    """Let a page name a constant by its path in the code: `lists.files.rows.MAX_COLUMNS`."""

    path: str

    def __getitem__(self, name: str) -> object:
        path = f"{self.path}.{name}"
        # Without the constant, the page fails: Django's own look-up would leave a gap.
        return import_string(path) if name.isupper() else CodePath(path)


def render_contents(page: DocsPage) -> str:
    """Render the page without its head."""
    code = {name: CodePath(name) for name in PACKAGES}
    facts = {**code, **_configured(), **_facts()}
    context = {"page": page, "operations": describe_operations(page), **facts}
    contents = render_to_string("docs/contents.md", context).removeprefix(page.head)
    return contents.strip() + "\n"


def _configured() -> dict[str, object]:
    return {
        "base_url": settings.BASE_URL,
        "support_email": settings.SUPPORT_EMAIL,
        "mailbox_checks": settings.PROBE_MAILBOX_CHECKS,
        "list_hours": settings.PROBE_LIST_HOURS,
        "probe_domain": settings.PROBE_DOMAIN,
        "probe_sender": settings.PROBE_SENDER,
        "currency": settings.CURRENCY,
        "retention_days": settings.LIST_RETENTION_DAYS,
        "result_hours": settings.RESULT_RETENTION_HOURS,
        "anonymous_limit": settings.ANONYMOUS_REQUESTS_PER_MINUTE,
        "free_accounts_per_domain": settings.SIGN_UP_CREDITS_PER_DOMAIN,
    }


def _facts() -> dict[str, object]:
    """Return values and functions, which run only if a template calls them."""
    return {
        "deadline_seconds": f"{settings.DNS_TIMEOUT + GRACE_SECONDS:g}",
        "key_length": len(crypto.PREFIX) + crypto.RANDOM_LENGTH + crypto.CHECKSUM_LENGTH,
        "max_body_kilobytes": max_body_bytes("/v1/validate/batch") // 1024,
        "max_feedback_kilobytes": max_body_bytes("/v1/validations/val/feedback") // 1024,
        "max_part_megabytes": MAX_PART_BYTES >> 20,
        "extra_columns": list_codes(EXTRA_COLUMNS),
        "tax_note": describe_tax(settings.TAX_RATE),
        "request_head": "GET /v1/me HTTP/1.1\nAuthorization: Bearer svc_live_…",
        "graces": get_text_list(
            [text.removeprefix("For ") for hours, text in GRACE_HOURS.items() if hours]
        ),
        "lifetimes": get_text_list([label.lower() for label in LIFETIMES.values()]),
        "access_refusals": [item for item in REFUSALS.items() if item[1].status in {401, 403}],
        "validate_operation": find_operation("validate"),
        "feedback_operation": find_operation("send-feedback"),
        "event_operation": find_operation("show-event"),
        "webhook_operation": find_operation("create-webhook"),
        "event_types": lambda: [(one, reference.describe_event(one)) for one in offered_types()],
        "full_response": lambda: _format_json(sandbox_result(FULL_RESULT_WORD)),
        "accuracy": load_accuracy,
        "mistyped": lambda: _format_json(mistyped_result()),
        "gateways": list_codes(provider.code for provider in PROVIDERS if provider.is_gateway),
        "providers": ", ".join(provider.code for provider in PROVIDERS if not provider.is_gateway),
        "states": LIST_STATES.items(),
        "limits": list_limits,
        "best": [(verdict, evidence, best) for (verdict, evidence), best in MAX_SCORES.items()],
        "headers": [
            header
            for header in reference.response_headers()
            if header.path.startswith(_RATE_HEADERS)
        ],
        "plans": Plan.objects.offered,
        "packs": Pack.objects.offered,
        "results": list_sandbox_results,
        "groups": list_groups,
        "response_headers": reference.response_headers,
        "errors": list_errors,
        "changelog": read_changelog,
    }


def list_limits() -> list[tuple[str, int, str]]:
    return [
        (str(offer), offer.list_addresses, format_bytes(offer.list_bytes))
        for offer in (*Plan.objects.offered(), *Pack.objects.offered())
    ]


def list_sandbox_results() -> list[tuple[str, str, dict[str, Any]]]:
    words = [*(verdict.value for verdict in Verdict), *VERDICT_BY_REASON]
    results = [(word, sandbox_result(word)) for word in words]
    return [(word, describe_result(word, result), result) for word, result in results]


def list_errors() -> list[tuple[str, ApiRefusal, str, str]]:
    """Return code, refusal, description of the details, and sample response."""
    responses = {
        code: text
        for operation in reference.operations()
        for response in operation.responses
        for code, text in response.examples
    }
    return [
        (code, refusal, describe_details(refusal.details), responses[code])
        for code, refusal in REFUSALS.items()
    ]


def _format_json(result: dict[str, Any]) -> str:
    return json.dumps(result, indent=2, ensure_ascii=False)
