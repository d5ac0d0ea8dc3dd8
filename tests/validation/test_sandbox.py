"""Every answer there is, on demand."""

import pytest

from apikeys.errors import REFUSALS, SAMPLE_PARAMS
from tests.support.api_client import ApiClient, code_of
from validation.engine.reasons import VERDICT_OF, Verdict

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("verdict", [verdict.value for verdict in Verdict])
def test_every_verdict_has_a_word(caller: ApiClient, verdict: str) -> None:
    result = caller.validate(f"{verdict}@sandbox.test").json()
    assert (result["verdict"], result["sandbox"]) == (verdict, True)
    assert VERDICT_OF[result["reason"]] == verdict
    assert result["reasons"] == [result["reason"]]


@pytest.mark.parametrize("reason", VERDICT_OF)
def test_every_reason_has_a_word_and_a_result_that_agrees_with_itself(
    caller: ApiClient, reason: str
) -> None:
    result = caller.validate(f"{reason}@sandbox.test").json()
    verdict, score = VERDICT_OF[reason], result["score"]
    assert (result["reason"], result["verdict"]) == (reason, verdict)
    ranges = {"undeliverable": (0, 0), "risky": (10, 69), "deliverable": (70, 100)}
    if verdict == "unknown":
        assert score is None
    else:
        lowest, highest = ranges[verdict]
        assert lowest <= score <= highest
    assert not (result["evidence"] == "dns" and verdict == "deliverable" and score > 85)
    safe = {"mailbox_accepted": True, "domain_accepts_mail": None}
    assert result["safe_to_send"] is (None if verdict == "unknown" else safe.get(reason, False))
    refused = verdict == "undeliverable" or reason in {"disposable", "no_reply", "mixed_script"}
    assert result["accept_for_signup"] is not refused
    assert result["retry_after_s"] == {"dns_timeout": 60, "dns_failure": 300}.get(reason)
    assert (result["did_you_mean"] is not None) is (reason == "possible_typo")
    if reason in result["checks"]:
        assert result["checks"][reason] is True


@pytest.mark.parametrize("code", REFUSALS)
def test_every_error_has_a_word_and_is_the_real_one(caller: ApiClient, code: str) -> None:
    answer = caller.validate(f"{code}@sandbox.test")
    assert (answer.status_code, code_of(answer)) == (REFUSALS[code].status, code)
    assert ("WWW-Authenticate" in answer.headers) is (answer.status_code == 401)
    assert ("Retry-After" in answer.headers) is (answer.status_code == 429)
    assert ("Allow" in answer.headers) is (answer.status_code == 405)
    assert answer.json()["error"]["param"] == SAMPLE_PARAMS.get(code)


def test_the_429_of_the_sandbox_has_the_headers_of_a_real_one(caller: ApiClient) -> None:
    answer = caller.validate("rate_limit_exceeded@sandbox.test")
    assert answer.headers["X-RateLimit-Remaining"] == "0"
    assert int(answer.headers["Retry-After"]) == answer.json()["error"]["details"]["retry_after"]


def test_the_402_of_the_sandbox_says_what_is_missing_and_where_to_get_it(caller: ApiClient) -> None:
    details = caller.validate("insufficient_credits@sandbox.test").json()["error"]["details"]
    assert (details["required"], details["balance"]) == (1, 0)
    assert details["top_up_url"].startswith("http")


def test_the_503_of_the_sandbox_says_how_long_to_wait(caller: ApiClient) -> None:
    answer = caller.validate("service_unavailable@sandbox.test")
    assert answer.json()["error"]["details"] == {"retry_after": 5, "charged": False}


@pytest.mark.parametrize(
    "email",
    ["Mailbox_Full@Sandbox.Test", "mailbox_full+tag@sandbox.test", "MAILBOX_FULL@SANDBOX.TEST"],
)
def test_a_tag_may_follow_and_case_is_ignored(caller: ApiClient, email: str) -> None:
    result = caller.validate(email).json()
    assert (result["email"], result["reason"]) == (email, "mailbox_full")
    assert result["checks"]["has_tag"] is ("+" in email)


@pytest.mark.parametrize("word", ["jane", "deliverable.not", "x+mailbox_full"])
def test_any_other_word_is_what_the_domain_says(caller: ApiClient, word: str) -> None:
    result = caller.validate(f"{word}@sandbox.test").json()
    assert (result["reason"], result["sandbox"]) == ("reserved_domain", True)


@pytest.mark.parametrize("email", ["risky@sandbox.test.example", "risky@my-sandbox.test", "risky"])
def test_another_domain_is_not_the_sandbox(caller: ApiClient, email: str) -> None:
    assert caller.validate(email).json()["sandbox"] is False
