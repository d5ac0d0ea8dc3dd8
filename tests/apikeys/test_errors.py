"""The error codes in the code, the contract and the docs are the same."""

import re
from pathlib import Path

import pytest
from django.test import Client

from apikeys.errors import REFUSALS

ROOT = Path(__file__).resolve().parents[2]
# From the contract. Codes are append-only.
CODES = {
    400: [
        *("invalid_json", "missing_field", "invalid_field", "unknown_field", "bad_request"),
        *("batch_larger_than_limit", "list_too_large", "mailbox_checks_unavailable"),
    ],
    401: ["missing_api_key", "invalid_api_key", "api_key_revoked", "api_key_expired"],
    402: [
        *("insufficient_credits", "key_credit_limit_reached", "plan_limit_reached"),
        "max_credits_exceeded",
    ],
    403: ["ip_not_allowed", "account_suspended", "insufficient_scope", "https_required"],
    404: ["not_found"],
    405: ["method_not_allowed"],
    406: ["not_acceptable"],
    409: [
        *("invalid_state", "part_conflict", "too_many_lists", "too_many_webhooks"),
        "confirmation_required",
    ],
    410: ["list_expired"],
    411: ["length_required"],
    412: ["precondition_failed"],
    413: ["request_too_large"],
    415: ["unsupported_media_type"],
    422: ["idempotency_key_reused"],
    429: ["rate_limit_exceeded"],
    500: ["internal_error"],
    503: ["service_unavailable"],
}


def raised_codes() -> set[str]:
    sources = [
        path.read_text()
        for app in ("apikeys", "credits", "validation", "lists", "reference", "config")
        for path in (ROOT / app).rglob("*.py")
    ]
    raising = r'(?:ApiError|unauthorized|_refuse)\(\s*(?:[a-z]+, )*"(\w+)"|code: str = "(\w+)"'
    return {a or b for source in sources for a, b in re.findall(raising, source)}


def test_codes_and_statuses_match_the_contract() -> None:
    statuses = {code: status for status, codes in CODES.items() for code in codes}
    assert {code: refusal.status for code, refusal in REFUSALS.items()} == statuses


def test_every_raised_code_is_documented() -> None:
    raised = raised_codes()
    assert raised <= REFUSALS.keys()
    assert len(raised) > 15


@pytest.mark.anywhere
@pytest.mark.django_db
def test_errors_page_has_a_section_with_cause_and_cure_for_each_code() -> None:
    page = Client().get("/docs/errors/").content.decode()
    sections = re.findall(r'<section id="(\w+)" class="docs-entry">(.*?)</section>', page, re.S)
    # The first section describes the shape of all errors.
    assert [code for code, _ in sections] == ["shape", *REFUSALS]
    for code, text in sections[1:]:
        assert len(re.findall(rf'id="{code}"', page)) == 1
        assert re.search(r"Cause\.</strong> \S.{20,}", text)
        assert re.search(r"What to do\.</strong> \S.{20,}", text)
        assert f">{REFUSALS[code].status}<" in text
