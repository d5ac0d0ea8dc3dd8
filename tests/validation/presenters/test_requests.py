"""What the request log and the page of a request say."""

import pytest

from validation.models import LogEntry
from validation.presenters.requests import (
    format_cost,
    format_duration,
    format_score,
    never_logged,
    no_latest_requests,
    outcome_notes,
    request_intro,
)


@pytest.mark.parametrize(
    ("entry", "cost"),
    [
        (LogEntry(cost=1), "1 credit"),
        (LogEntry(replayed=True, sandbox=True), "Free: replayed response"),
        (LogEntry(sandbox=True), "Free: sandbox"),
        (LogEntry(verdict="unknown"), "Free: unknown verdict"),
    ],
)
def test_free_request_says_why_it_is_free(entry: LogEntry, cost: str) -> None:
    assert format_cost(entry) == cost


def test_duration_of_less_than_a_millisecond_is_not_zero() -> None:
    assert [format_duration(number) for number in (0, 7, 1_200)] == ["<1 ms", "7 ms", "1,200 ms"]


def test_score_may_be_missing() -> None:
    assert format_score(LogEntry(score=0)) == "0 of 100"
    assert format_score(LogEntry()) == "None: no definite verdict"


@pytest.mark.parametrize(
    ("entry", "intro"),
    [
        (LogEntry(verdict="risky"), "Why the address has this verdict, and what to do about it."),
        (LogEntry(refusal="missing_field"), "Why the request was refused, and how to fix it."),
        (LogEntry(), "A request that validated no address."),
    ],
)
def test_intro_depends_on_the_outcome(entry: LogEntry, intro: str) -> None:
    assert request_intro(entry) == intro


@pytest.mark.parametrize(
    ("entry", "notes"),
    [
        (LogEntry(verdict="risky"), []),
        (LogEntry(verdict="risky", sandbox=True, replayed=True), ["sandbox", "replay"]),
        (LogEntry(refusal="missing_field", sandbox=True, replayed=True), ["sandbox"]),
    ],
)
def test_sandbox_and_replays_are_marked(entry: LogEntry, notes: list[str]) -> None:
    assert outcome_notes(entry) == notes


def test_account_that_stores_no_requests_is_not_promised_any() -> None:
    assert never_logged(0).headline == "Requests aren't stored."
    assert never_logged(30).headline == "No requests yet."
    assert no_latest_requests(0).headline == "Requests aren't stored."
    assert no_latest_requests(1).text == "There were none in the last 1 day."
