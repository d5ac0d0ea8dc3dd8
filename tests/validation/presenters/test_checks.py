"""The groups of checks on the pages of results."""

import pytest

from engine.verdicts.finding import CHECKS
from validation.presenters.checks import CheckState, ShownCheck, group_checks


def all_checks(**values: bool) -> dict[str, ShownCheck]:
    groups = group_checks(dict.fromkeys(CHECKS) | values)
    return {check.name: check for group in groups.values() for check in group}


def test_every_check_is_in_one_group() -> None:
    groups = group_checks(dict.fromkeys(CHECKS))
    assert [*groups] == ["Syntax", "Domain", "Mailbox"]
    assert sorted(check.name for group in groups.values() for check in group) == sorted(CHECKS)


def test_check_that_an_earlier_release_did_not_have_is_shown_as_not_run() -> None:
    groups = group_checks({"syntax": True})
    checks = {check.name: check.state for group in groups.values() for check in group}
    assert checks.keys() == {*CHECKS}
    assert checks.pop("syntax") is CheckState.PASSED
    assert {*checks.values()} == {CheckState.NOT_RUN}


def test_bad_checks_come_first_and_those_not_run_last() -> None:
    values = dict.fromkeys(CHECKS) | {
        "domain_exists": True,
        "accepts_mail": False,
        "disposable": True,
        "relay": True,
    }
    domain = group_checks(values)["Domain"]
    assert [check.state for check in domain] == [
        *(CheckState.FAILED, CheckState.RISK, CheckState.PASSED, CheckState.INFO),
        *(CheckState.NOT_RUN, CheckState.NOT_RUN, CheckState.NOT_RUN),
    ]


@pytest.mark.parametrize(
    ("name", "value", "state", "text"),
    [
        ("syntax", True, CheckState.PASSED, "Valid syntax"),
        ("syntax", False, CheckState.FAILED, "Invalid syntax"),
        ("null_mx", False, CheckState.PASSED, "No null MX record"),
        ("mailbox_disabled", True, CheckState.FAILED, "Mailbox is disabled"),
        ("no_reply", True, CheckState.RISK, "No-reply address"),
        ("free_provider", True, CheckState.INFO, "Free email provider"),
        ("has_tag", False, CheckState.INFO, "No +tag"),
        ("machine_address", True, CheckState.INFO, "Address made by software"),
        ("placeholder", False, CheckState.INFO, "Not a placeholder"),
    ],
)
def test_check_says_what_it_means(name: str, value: bool, state: CheckState, text: str) -> None:
    check = all_checks(**{name: value})[name]
    assert (check.state, check.text) == (state, text)
