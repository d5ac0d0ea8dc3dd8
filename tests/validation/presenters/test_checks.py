"""The groups of checks on the pages of results."""

import pytest

from validation.engine.verdicts.finding import CHECKS
from validation.presenters.checks import Check, State, group_checks


def all_checks(**values: bool) -> dict[str, Check]:
    groups = group_checks(dict.fromkeys(CHECKS) | values)
    return {check.name: check for group in groups for check in group.checks}


def test_every_check_is_in_one_group() -> None:
    groups = group_checks(dict.fromkeys(CHECKS))
    assert [group.name for group in groups] == ["Syntax", "Domain", "Mailbox"]
    assert sorted(check.name for group in groups for check in group.checks) == sorted(CHECKS)


def test_bad_checks_come_first_and_those_not_run_last() -> None:
    values = dict.fromkeys(CHECKS) | {
        "domain_exists": True,
        "accepts_mail": False,
        "disposable": True,
        "relay": True,
    }
    domain = next(group for group in group_checks(values) if group.name == "Domain")
    assert [check.state for check in domain.checks] == [
        *(State.FAILED, State.RISK, State.PASSED, State.INFO),
        *(State.NOT_RUN, State.NOT_RUN, State.NOT_RUN),
    ]


@pytest.mark.parametrize(
    ("name", "value", "state", "text"),
    [
        ("syntax", True, State.PASSED, "Valid syntax"),
        ("syntax", False, State.FAILED, "Invalid syntax"),
        ("null_mx", False, State.PASSED, "No null MX record"),
        ("mailbox_disabled", True, State.FAILED, "Mailbox is disabled"),
        ("no_reply", True, State.RISK, "No-reply address"),
        ("free_provider", True, State.INFO, "Free email provider"),
        ("has_tag", False, State.INFO, "No +tag"),
    ],
)
def test_check_says_what_its_value_means(name: str, value: bool, state: State, text: str) -> None:
    check = all_checks(**{name: value})[name]
    assert (check.state, check.text) == (state, text)


def test_check_that_was_not_run_claims_nothing() -> None:
    assert all_checks()["accept_all"].state is State.NOT_RUN
    assert all_checks()["null_mx"].text == "Null MX record"


def test_states_have_different_icons_and_tones() -> None:
    tones = {Check("", "", state).tone for state in State}
    icons = {Check("", "", state).icon for state in State}
    assert len(tones) == len(icons) == len(State)
