"""Fill in the Markdown of docs pages with facts from the code."""

import json
from decimal import Decimal
from typing import Any, NamedTuple

from django.conf import settings
from django.template.loader import render_to_string
from django.utils.text import get_text_list

from accounts.events.types import offered_types
from accounts.webhooks.data import EVENT_RETENTION
from accounts.webhooks.sending import ERRORS
from accounts.webhooks.services import MAX_ATTEMPTS, MAX_REPLAYS, MAX_TESTS, MAX_WEBHOOKS
from apikeys import crypto
from apikeys.client_packages import PYTHON_PACKAGE, TYPESCRIPT_PACKAGE
from apikeys.errors import REFUSALS, ApiRefusal
from apikeys.forms import GRACE_LABELS, LIFETIMES, MAX_NETWORKS
from apikeys.models import EXPIRY_NOTICE, MAX_ACTIVE_KEYS
from apikeys.rest import reference
from apikeys.rest.paths import MAX_BODY_BYTES, max_body_bytes
from apikeys.rest.strict_json import MAX_DEPTH
from apikeys.scopes import SCOPES
from apikeys.throttling.limits import WINDOW_SECONDS
from credits import usage_alerts
from credits.models import Pack, Plan
from engine import (
    MAX_SCORES,
    MIN_SCORES,
    PROVIDERS,
    REASONS,
    SYNTAX_MESSAGES,
    VERDICT_BY_REASON,
    WEIGHTS,
    Verdict,
)
from lists.files.rows import MAX_COLUMNS
from lists.results.downloads import EXTRA_COLUMNS, MAX_DOWNLOADS, MAX_XLSX_ROWS
from lists.results.sample import MIN_ADDRESSES, SAMPLE_SIZE, SAMPLES_PER_DAY
from lists.uploads.limits import COLUMN_CHANGES_PER_HOUR, MAX_UNFINISHED, format_bytes
from lists.uploads.parsing import MAX_ROWS_PER_ADDRESS
from lists.uploads.services import MAX_EMAILS, MAX_PART_BYTES
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
from validation.account_domains.entries import MAX_PROBLEMS
from validation.account_domains.services import MAX_ENTRIES
from validation.api import MAX_EMAIL_LENGTH
from validation.batches.services import GRACE_SECONDS, MAX_ADDRESSES
from validation.feedback.services import FEEDBACK_PER_DAY
from validation.models import MAX_FREE_BATCH_REPLAYS, MAX_SANDBOX_REPLAYS
from validation.models.feedback import FEEDBACK_RETENTION
from validation.probes.daily_limit import FREE_CHECKS_PER_DAY
from validation.reports.api import DEFAULT_DAYS, MAX_DAYS
from validation.results.sample_results import mistyped_result, sandbox_result
from validation.results.serializers import DEFAULT_TIMEOUT_SECONDS, MAX_TIMEOUT_SECONDS

# The sandbox word whose full response the page about fields shows.
FULL_RESULT_WORD = "disposable"
_RATE_HEADERS = ("X-RateLimit", "RateLimit", "Retry-After")


def render_contents(page: DocsPage) -> str:
    """Render the page without its head."""
    context = {"page": page, "operations": describe_operations(page), **_NUMBERS, **_facts()}
    contents = render_to_string("docs/contents.md", context).removeprefix(page.head)
    return contents.strip() + "\n"


_NUMBERS: dict[str, object] = {
    "python_package": PYTHON_PACKAGE,
    "typescript_package": TYPESCRIPT_PACKAGE,
    "key_length": len(crypto.PREFIX) + crypto.RANDOM_LENGTH + crypto.CHECKSUM_LENGTH,
    "announced_days": EXPIRY_NOTICE.days,
    "max_keys": MAX_ACTIVE_KEYS,
    "max_networks": MAX_NETWORKS,
    "max_body_bytes": MAX_BODY_BYTES,
    "max_email_length": MAX_EMAIL_LENGTH,
    "mailbox_checks": settings.PROBE_MAILBOX_CHECKS,
    "list_hours": settings.PROBE_LIST_HOURS,
    "probe_domain": settings.PROBE_DOMAIN,
    "probe_sender": settings.PROBE_SENDER,
    "default_timeout": DEFAULT_TIMEOUT_SECONDS,
    "max_timeout": MAX_TIMEOUT_SECONDS,
    "free_checks_per_day": FREE_CHECKS_PER_DAY,
    "max_depth": MAX_DEPTH,
    "max_addresses": MAX_ADDRESSES,
    "max_body_kilobytes": max_body_bytes("/v1/validate/batch") // 1024,
    "max_free_replays": MAX_FREE_BATCH_REPLAYS,
    "max_sandbox_replays": MAX_SANDBOX_REPLAYS,
    "max_part_megabytes": MAX_PART_BYTES >> 20,
    "sample_size": SAMPLE_SIZE,
    "min_sampled": MIN_ADDRESSES,
    "samples_per_day": SAMPLES_PER_DAY,
    "max_unfinished": MAX_UNFINISHED,
    "rows_per_address": MAX_ROWS_PER_ADDRESS,
    "max_columns": MAX_COLUMNS,
    "column_changes": COLUMN_CHANGES_PER_HOUR,
    "max_downloads": MAX_DOWNLOADS,
    "max_xlsx_rows": MAX_XLSX_ROWS,
    "extra_columns": list_codes(EXTRA_COLUMNS),
    "max_emails": MAX_EMAILS,
    "max_entries": MAX_ENTRIES,
    "max_problems": MAX_PROBLEMS,
    "feedback_days": FEEDBACK_RETENTION.days,
    "feedback_per_day": FEEDBACK_PER_DAY,
    "max_feedback_kilobytes": max_body_bytes("/v1/validations/val/feedback") // 1024,
    "event_days": EVENT_RETENTION.days,
    "max_tests": MAX_TESTS,
    "max_replays": MAX_REPLAYS,
    "max_attempts": MAX_ATTEMPTS,
    "max_webhooks": MAX_WEBHOOKS,
    "attempt_errors": ERRORS.items(),
    "window": WINDOW_SECONDS,
    "default_days": DEFAULT_DAYS,
    "max_days": MAX_DAYS,
    "alerts": usage_alerts,
}


def _facts() -> dict[str, object]:
    """Return values and functions, which run only if a template calls them."""
    return {
        "base_url": settings.BASE_URL,
        "support_email": settings.SUPPORT_EMAIL,
        "currency": settings.CURRENCY,
        "deadline_seconds": f"{settings.DNS_TIMEOUT + GRACE_SECONDS:g}",
        "retention_days": settings.LIST_RETENTION_DAYS,
        "result_hours": settings.RESULT_RETENTION_HOURS,
        "anonymous_limit": settings.ANONYMOUS_REQUESTS_PER_MINUTE,
        "free_accounts_per_domain": settings.SIGN_UP_CREDITS_PER_DOMAIN,
        "tax_note": describe_tax(Decimal(str(settings.TAX_RATE))),
        "request_head": "GET /v1/me HTTP/1.1\nAuthorization: Bearer svc_live_…",
        "graces": get_text_list([label.removeprefix("For ") for label in GRACE_LABELS[1:]]),
        "lifetimes": get_text_list([label.lower() for label in LIFETIMES.values()]),
        "scopes": SCOPES,
        "access_refusals": [item for item in REFUSALS.items() if item[1].status in {401, 403}],
        "refusals": REFUSALS.items(),
        "validate_operation": find_operation("validate"),
        "feedback_operation": find_operation("send-feedback"),
        "event_operation": find_operation("show-event"),
        "webhook_operation": find_operation("create-webhook"),
        "event_types": lambda: [(one, reference.describe_event(one)) for one in offered_types()],
        "full_response": lambda: _format_json(sandbox_result(FULL_RESULT_WORD)),
        "accuracy": load_accuracy,
        "mistyped": lambda: _format_json(mistyped_result()),
        "mistakes": SYNTAX_MESSAGES.items(),
        "gateways": list_codes(provider.code for provider in PROVIDERS if provider.is_gateway),
        "providers": ", ".join(provider.code for provider in PROVIDERS if not provider.is_gateway),
        "states": LIST_STATES.items(),
        "limits": list_limits,
        "reasons": REASONS.items(),
        "best": [(verdict, evidence, best) for (verdict, evidence), best in MAX_SCORES.items()],
        "weights": WEIGHTS.items(),
        "lowest": MIN_SCORES.items(),
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


class ErrorEntry(NamedTuple):
    code: str
    refusal: ApiRefusal
    details: str
    json: str


def list_errors() -> list[ErrorEntry]:
    responses = {
        code: text
        for operation in reference.operations()
        for response in operation.responses
        for code, text in response.examples
    }
    return [
        ErrorEntry(code, refusal, describe_details(refusal.details), responses[code])
        for code, refusal in REFUSALS.items()
    ]


def _format_json(result: dict[str, Any]) -> str:
    return json.dumps(result, indent=2, ensure_ascii=False)
