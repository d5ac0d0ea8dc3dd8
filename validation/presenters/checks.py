"""Group the checks of a result, and say how each one ended. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """How a check ended, in the order in which a group lists them."""

    FAILED = "Failed"
    RISK = "Risk"
    PASSED = "Passed"
    INFO = "Info"
    NOT_RUN = "Not run"


_ICONS = {
    State.FAILED: "circle-x",
    State.RISK: "triangle-alert",
    State.INFO: "info",
    State.PASSED: "circle-check",
    State.NOT_RUN: "circle-question-mark",
}
_ORDER = list(State)


@dataclass(frozen=True)
class Check:
    # As in the API.
    name: str
    text: str
    state: State

    @property
    def icon(self) -> str:
        return _ICONS[self.state]

    @property
    def tone(self) -> str:
        """Return the suffix of the CSS class."""
        return self.state.name.lower().replace("_", "-")


@dataclass(frozen=True)
class CheckGroup:
    name: str
    checks: list[Check]


@dataclass(frozen=True)
class _Wording:
    """The text of a check that is true or false, and the state that each value means."""

    true: str
    false: str
    if_true: State = State.PASSED
    if_false: State = State.PASSED


def _failed_if_true(true: str, false: str) -> _Wording:
    return _Wording(true, false, if_true=State.FAILED)


def _failed_if_false(true: str, false: str) -> _Wording:
    return _Wording(true, false, if_false=State.FAILED)


def _risk_if_true(true: str, false: str) -> _Wording:
    return _Wording(true, false, if_true=State.RISK)


def _info(true: str, false: str) -> _Wording:
    return _Wording(true, false, if_true=State.INFO, if_false=State.INFO)


_GROUPS: dict[str, dict[str, _Wording]] = {
    "Syntax": {
        "syntax": _failed_if_false("Valid syntax", "Invalid syntax"),
        "mixed_script": _risk_if_true("Mixed scripts in one word", "No mixed scripts"),
        "smtputf8_required": _risk_if_true("SMTPUTF8 required", "SMTPUTF8 not required"),
        "has_tag": _info("Has a +tag", "No +tag"),
    },
    "Domain": {
        "domain_exists": _failed_if_false("Domain exists", "Domain doesn't exist"),
        "accepts_mail": _failed_if_false("Domain accepts mail", "Domain doesn't accept mail"),
        "null_mx": _failed_if_true("Null MX record: no mail accepted", "No null MX record"),
        "reserved_domain": _failed_if_true("Reserved domain", "Not a reserved domain"),
        "disposable": _risk_if_true("Disposable domain", "Not a disposable domain"),
        "free_provider": _info("Free email provider", "Not a free email provider"),
        "relay": _info("Relay address", "Not a relay address"),
    },
    "Mailbox": {
        "mailbox_exists": _failed_if_false("Mailbox exists", "Mailbox doesn't exist"),
        "mailbox_disabled": _failed_if_true("Mailbox is disabled", "Mailbox isn't disabled"),
        "mailbox_full": _risk_if_true("Mailbox is full", "Mailbox isn't full"),
        "accept_all": _risk_if_true(
            "Server accepts any mailbox", "Server rejects unknown mailboxes"
        ),
        "role_account": _risk_if_true("Role account", "Not a role account"),
        "no_reply": _risk_if_true("No-reply address", "Not a no-reply address"),
    },
}
# What each check asks, for checks that were not run.
_NOT_RUN = {
    "mixed_script": "Mixed scripts",
    "null_mx": "Null MX record",
    "accept_all": "Server accepts any mailbox",
    "has_tag": "+tag",
}


def group_checks(values: Mapping[str, bool | None]) -> list[CheckGroup]:
    """Return the checks by group, and in each group the bad ones first."""
    groups = []
    for group, wordings in _GROUPS.items():
        checks = [_check(name, wording, values[name]) for name, wording in wordings.items()]
        groups.append(CheckGroup(group, sorted(checks, key=lambda c: _ORDER.index(c.state))))
    return groups


def _check(name: str, wording: _Wording, value: bool | None) -> Check:
    if value is None:
        return Check(name, _NOT_RUN.get(name, wording.true), State.NOT_RUN)
    if value:
        return Check(name, wording.true, wording.if_true)
    return Check(name, wording.false, wording.if_false)
