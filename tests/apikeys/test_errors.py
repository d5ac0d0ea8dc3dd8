"""The error codes in the code, the contract and the docs are the same."""

import re
from pathlib import Path

import pytest
from django.test import Client

from apikeys.errors import REFUSALS

ROOT = Path(__file__).resolve().parents[2]
# From the contract. Codes are append-only.
STATUSES = {
    **dict.fromkeys(["invalid_json", "missing_field", "invalid_field", "unknown_field"], 400),
    "bad_request": 400,
    "batch_larger_than_limit": 400,
    "list_too_large": 400,
    "missing_api_key": 401,
    "invalid_api_key": 401,
    "api_key_revoked": 401,
    "api_key_expired": 401,
    "insufficient_credits": 402,
    "key_credit_limit_reached": 402,
    "mailbox_checks_unavailable": 400,
    "plan_limit_reached": 402,
    "max_credits_exceeded": 402,
    "ip_not_allowed": 403,
    "account_suspended": 403,
    "insufficient_scope": 403,
    "https_required": 403,
    "not_found": 404,
    "method_not_allowed": 405,
    "not_acceptable": 406,
    "invalid_state": 409,
    "part_conflict": 409,
    "too_many_lists": 409,
    "too_many_webhooks": 409,
    "confirmation_required": 409,
    "list_expired": 410,
    "precondition_failed": 412,
    "length_required": 411,
    "request_too_large": 413,
    "unsupported_media_type": 415,
    "idempotency_key_reused": 422,
    "rate_limit_exceeded": 429,
    "internal_error": 500,
    "service_unavailable": 503,
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
    assert {code: refusal.status for code, refusal in REFUSALS.items()} == STATUSES


def test_every_raised_code_is_documented() -> None:
    raised = raised_codes()
    assert raised <= REFUSALS.keys()
    assert len(raised) > 15


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
