"""Build each docs page's template context from the code, so that the pages stay correct."""

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any, NamedTuple

from django.conf import settings
from django.utils.text import get_text_list

from apikeys import crypto
from apikeys.errors import REFUSALS, SAMPLE_DETAILS, Refusal
from apikeys.forms import GRACE_LABELS, LIFETIMES, MAX_NETWORKS
from apikeys.models import EXPIRY_NOTICE, MAX_ACTIVE_KEYS
from apikeys.rest import reference
from apikeys.rest.paths import MAX_BODY_BYTES, max_body_bytes
from apikeys.rest.strict_json import MAX_DEPTH
from apikeys.throttling.limits import WINDOW_SECONDS
from credits.models import Pack, Plan
from validation.api import MAX_EMAIL_LENGTH
from validation.batches.services import GRACE_SECONDS, MAX_ADDRESSES
from validation.docs.changelog import ENTRIES
from validation.docs.operations import describe_operations, list_groups
from validation.docs.pages import Page
from validation.docs.sentences import (
    LIST_STATES,
    describe_details,
    describe_result,
    describe_tax,
    list_codes,
)
from validation.domains.entries import MAX_PROBLEMS
from validation.domains.services import MAX_ENTRIES
from validation.engine.dns.providers import PROVIDERS
from validation.engine.syntax.errors import MESSAGES
from validation.engine.verdicts.reason_texts import reasons_by_verdict
from validation.engine.verdicts.reasons import PRECEDENCE, Verdict
from validation.engine.verdicts.score import MAX_SCORES, MIN_SCORES, WEIGHTS
from validation.feedback.services import FEEDBACK_PER_DAY
from validation.lists.results.sample import MIN_ADDRESSES, SAMPLE_SIZE, SAMPLES_PER_DAY
from validation.lists.services import MAX_EMAILS, MAX_PART_BYTES
from validation.lists.uploads.limits import MAX_UNFINISHED, format_bytes
from validation.models import MAX_FREE_BATCH_REPLAYS, MAX_SANDBOX_REPLAYS
from validation.models.feedback import FEEDBACK_RETENTION
from validation.reports.api import DEFAULT_DAYS, MAX_DAYS
from validation.results.sample_results import mistyped_result, sandbox_result

Context = dict[str, Any]
# The sandbox word whose full response is on the page that explains each field.
FULL_RESULT_WORD = "disposable"
_REQUEST_HEAD = "GET /v1/me HTTP/1.1\nAuthorization: Bearer svc_live_…"
_RATE_HEADERS = ("X-RateLimit", "RateLimit", "Retry-After")


def build_context(page: Page) -> Context:
    if page.tag:
        return {"entries": describe_operations(page), "full_response": _full_response()}
    build = _BUILDERS.get(page.name)
    return build() if build else {}


def _authentication() -> Context:
    return {
        "request_head": _REQUEST_HEAD,
        "key_length": len(crypto.PREFIX) + crypto.RANDOM_LENGTH + crypto.CHECKSUM_LENGTH,
        "refusals": [*_refusals(401), *_refusals(403)],
        "graces": get_text_list([label.removeprefix("For ") for label in GRACE_LABELS[1:]]),
        "lifetimes": get_text_list([label.lower() for label in LIFETIMES.values()]),
        "announced_days": EXPIRY_NOTICE.days,
        "max_keys": MAX_ACTIVE_KEYS,
        "max_networks": MAX_NETWORKS,
    }


def _validate() -> Context:
    operations = reference.operations()
    return {
        "operation": next(item for item in operations if item.id == "validate"),
        "full_response": _full_response(),
        "mistyped": _format_json(mistyped_result()),
        "max_body_bytes": MAX_BODY_BYTES,
        "max_email_length": MAX_EMAIL_LENGTH,
        "max_depth": MAX_DEPTH,
        "mistakes": MESSAGES.items(),
        "gateways": list_codes(provider.code for provider in PROVIDERS if provider.is_gateway),
        "providers": list_codes(provider.code for provider in PROVIDERS if not provider.is_gateway),
    }


def _full_response() -> str:
    return _format_json(sandbox_result(FULL_RESULT_WORD))


def _batch() -> Context:
    return {
        "max_addresses": MAX_ADDRESSES,
        "max_body_kilobytes": max_body_bytes("/v1/validate/batch") // 1024,
        "max_email_length": MAX_EMAIL_LENGTH,
        "max_free_replays": MAX_FREE_BATCH_REPLAYS,
        "deadline_seconds": f"{settings.DNS_TIMEOUT + GRACE_SECONDS:g}",
    }


def _lists() -> Context:
    return {
        "max_part_megabytes": MAX_PART_BYTES >> 20,
        "states": LIST_STATES.items(),
        "sample_size": SAMPLE_SIZE,
        "min_sampled": MIN_ADDRESSES,
        "samples_per_day": SAMPLES_PER_DAY,
        "retention_days": settings.LIST_RETENTION_DAYS,
        "max_unfinished": MAX_UNFINISHED,
        "max_emails": MAX_EMAILS,
        "limits": [
            (str(offer), offer.list_addresses, format_bytes(offer.list_bytes))
            for offer in (*Plan.objects.offered(), *Pack.objects.offered())
        ],
    }


def _domains() -> Context:
    return {"max_entries": MAX_ENTRIES, "max_problems": MAX_PROBLEMS}


def _results() -> Context:
    operations = reference.operations()
    return {
        "operation": next(item for item in operations if item.id == "send-feedback"),
        "result_hours": settings.RESULT_RETENTION_HOURS,
        "feedback_days": FEEDBACK_RETENTION.days,
        "feedback_per_day": FEEDBACK_PER_DAY,
        "max_feedback_kilobytes": max_body_bytes("/v1/validations/val/feedback") // 1024,
    }


def _format_json(result: Context) -> str:
    return json.dumps(result, indent=2, ensure_ascii=False)


def _verdicts() -> Context:
    return {
        "verdicts": reasons_by_verdict(),
        "best": [(verdict, evidence, best) for (verdict, evidence), best in MAX_SCORES.items()],
        "weights": WEIGHTS.items(),
        "lowest": MIN_SCORES.items(),
    }


def _rate_limits() -> Context:
    headers = [
        header for header in reference.response_headers() if header.path.startswith(_RATE_HEADERS)
    ]
    return {
        "headers": headers,
        "window": WINDOW_SECONDS,
        "anonymous_limit": settings.ANONYMOUS_REQUESTS_PER_MINUTE,
        **_offers(),
    }


def _credits() -> Context:
    return {
        **_offers(),
        "default_days": DEFAULT_DAYS,
        "max_days": MAX_DAYS,
        "tax_note": describe_tax(Decimal(str(settings.TAX_RATE))),
        "free_accounts_per_domain": settings.SIGN_UP_CREDITS_PER_DOMAIN,
    }


def _offers() -> Context:
    return {"plans": Plan.objects.offered(), "packs": Pack.objects.offered()}


def _idempotency() -> Context:
    return {"max_sandbox_replays": MAX_SANDBOX_REPLAYS}


def _sandbox() -> Context:
    words = [*(verdict.value for verdict in Verdict), *PRECEDENCE]
    results = [(word, sandbox_result(word)) for word in words]
    return {
        "results": [(word, describe_result(word, result), result) for word, result in results],
        "refusals": _refusals(),
        "max_sandbox_replays": MAX_SANDBOX_REPLAYS,
    }


def _reference() -> Context:
    return {"groups": list_groups(), "response_headers": reference.response_headers()}


class ErrorEntry(NamedTuple):
    code: str
    refusal: Refusal
    details: str
    json: str


def _errors() -> Context:
    responses = {
        code: text
        for operation in reference.operations()
        for response in operation.responses
        for code, text in response.examples
    }
    return {
        "entries": [
            ErrorEntry(
                code, refusal, describe_details(SAMPLE_DETAILS.get(code, {})), responses[code]
            )
            for code, refusal in _refusals()
        ]
    }


def _changelog() -> Context:
    return {"entries": ENTRIES}


def _refusals(status: int | None = None) -> list[tuple[str, Refusal]]:
    return [
        (code, refusal) for code, refusal in REFUSALS.items() if status in (None, refusal.status)
    ]


_BUILDERS: dict[str, Callable[[], Context]] = {
    "show-authentication": _authentication,
    "show-validate": _validate,
    "show-batch": _batch,
    "show-lists": _lists,
    "show-mailing-list": _lists,
    "show-domains": _domains,
    "show-results": _results,
    "show-verdicts": _verdicts,
    "show-rate-limits": _rate_limits,
    "show-credits": _credits,
    "show-idempotency": _idempotency,
    "show-sandbox": _sandbox,
    "show-reference": _reference,
    "show-errors": _errors,
    "show-changelog": _changelog,
}
