"""Sandbox addresses that return each verdict, reason and error."""

import pytest

from apikeys.errors import REFUSALS
from engine.verdicts.reasons import VERDICT_BY_REASON, Verdict
from tests.support.api_client import ApiClient, error_code

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]


@pytest.mark.parametrize("verdict", [verdict.value for verdict in Verdict])
def test_every_verdict_has_a_sandbox_word(caller: ApiClient, verdict: str) -> None:
    result = caller.validate(f"{verdict}@sandbox.test").json()
    assert (result["verdict"], result["sandbox"]) == (verdict, True)
    assert VERDICT_BY_REASON[result["reason"]] == verdict
    assert result["reasons"] == [result["reason"]]


@pytest.mark.parametrize("reason", VERDICT_BY_REASON)
def test_every_reason_has_a_word_with_a_consistent_result(caller: ApiClient, reason: str) -> None:
    result = caller.validate(f"{reason}@sandbox.test").json()
    verdict, score = VERDICT_BY_REASON[reason], result["score"]
    assert (result["reason"], result["verdict"]) == (reason, verdict)
    score_ranges = {"undeliverable": (0, 0), "risky": (10, 69), "deliverable": (70, 100)}
    if verdict == "unknown":
        assert score is None
    else:
        lowest, highest = score_ranges[verdict]
        assert lowest <= score <= highest
    assert not (result["evidence"] == "dns" and verdict == "deliverable" and score > 85)
    safe_to_send = {"mailbox_accepted": True, "domain_accepts_mail": None}
    assert result["safe_to_send"] is (
        None if verdict == "unknown" else safe_to_send.get(reason, False)
    )
    is_refused = verdict == "undeliverable" or reason in {"disposable", "no_reply", "mixed_script"}
    assert result["accept_for_signup"] is not is_refused
    assert result["retry_after_s"] == {"dns_timeout": 60, "dns_failure": 300}.get(reason)
    assert (result["did_you_mean"] is not None) is (reason == "possible_typo")
    assert result["lookalike_of"] == ("mailbox.test" if reason == "parked" else None)
    assert result["lists"]["disposable_by"] == ("domain" if reason == "disposable" else None)
    if reason in result["checks"]:
        assert result["checks"][reason] is True


@pytest.mark.parametrize("code", REFUSALS)
def test_every_error_has_a_sandbox_word_with_its_response(caller: ApiClient, code: str) -> None:
    response = caller.validate(f"{code}@sandbox.test")
    assert (response.status_code, error_code(response)) == (REFUSALS[code].status, code)
    assert ("WWW-Authenticate" in response.headers) is (response.status_code == 401)
    assert ("Retry-After" in response.headers) is (response.status_code == 429)
    assert ("Allow" in response.headers) is (response.status_code == 405)
    assert response.json()["error"]["param"] == REFUSALS[code].param


def test_refusals_of_the_sandbox_have_the_details_of_real_ones(caller: ApiClient) -> None:
    limited, poor, unavailable = (
        caller.validate(f"{word}@sandbox.test")
        for word in ("rate_limit_exceeded", "insufficient_credits", "service_unavailable")
    )
    assert limited.headers["X-RateLimit-Remaining"] == "0"
    details = limited.json()["error"]["details"]
    assert limited.headers["Retry-After"] == str(details["retry_after"])
    details = poor.json()["error"]["details"]
    assert (details["required"], details["balance"]) == (1, 0)
    assert details["top_up_url"].startswith("http")
    assert unavailable.json()["error"]["details"] == {"retry_after": 5, "charged": False}


def test_sandbox_words_ignore_case_and_tags(caller: ApiClient) -> None:
    words = (
        "Mailbox_Full@Sandbox.Test",
        "mailbox_full+tag@sandbox.test",
        "MAILBOX_FULL@SANDBOX.TEST",
    )
    for email in words:
        result = caller.validate(email).json()
        assert (result["email"], result["reason"]) == (email, "mailbox_full")
        checks = result["checks"]
        assert checks["has_tag"] is ("+" in email)
        assert (checks["machine_address"], checks["placeholder"]) == (False, False)


def test_sandbox_shows_the_facts_of_the_mailbox(caller: ApiClient) -> None:
    for mailbox, fact in (("bounces+1", "machine_address"), ("none", "placeholder")):
        checks = caller.validate(f"{mailbox}@sandbox.test").json()["checks"]
        assert {name for name in ("machine_address", "placeholder") if checks[name]} == {fact}


def test_unknown_sandbox_word_is_a_reserved_domain(caller: ApiClient) -> None:
    for word in ("jane", "deliverable.not", "x+mailbox_full"):
        result = caller.validate(f"{word}@sandbox.test").json()
        assert (result["reason"], result["sandbox"]) == ("reserved_domain", True)
    for email in ("risky@sandbox.test.example", "risky@my-sandbox.test", "risky"):
        assert caller.validate(email).json()["sandbox"] is False
