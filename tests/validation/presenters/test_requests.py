"""What the request log and the page of a request say."""

import pytest

from validation.models import LogEntry
from validation.presenters.requests import (
    format_cost,
    format_duration,
    never_logged,
    no_latest_requests,
    outcome_notes,
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
