from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class CheckState(StrEnum):
    """How a check ended, in the order in which a group lists checks."""

    FAILED = "Failed"
    RISK = "Risk"
    PASSED = "Passed"
    INFO = "Info"
    NOT_RUN = "Not run"


_ICONS = {
    CheckState.FAILED: "circle-x",
    CheckState.RISK: "triangle-alert",
    CheckState.INFO: "info",
    CheckState.PASSED: "circle-check",
    CheckState.NOT_RUN: "circle-question-mark",
}
_ORDER = list(CheckState)


@dataclass(frozen=True)
class Check:
    name: str
    text: str
    state: CheckState

    @property
    def icon(self) -> str:
        return _ICONS[self.state]

    @property
    def tone(self) -> str:
        return self.state.name.lower().replace("_", "-")


@dataclass(frozen=True)
class CheckGroup:
    name: str
    checks: list[Check]


@dataclass(frozen=True)
class _Wording:
    true: str
    false: str
    if_true: CheckState = CheckState.PASSED
    if_false: CheckState = CheckState.PASSED


def _failed_if_true(true: str, false: str) -> _Wording:
    return _Wording(true, false, if_true=CheckState.FAILED)


def _failed_if_false(true: str, false: str) -> _Wording:
    return _Wording(true, false, if_false=CheckState.FAILED)


def _risk_if_true(true: str, false: str) -> _Wording:
    return _Wording(true, false, if_true=CheckState.RISK)


def _info(true: str, false: str) -> _Wording:
    return _Wording(true, false, if_true=CheckState.INFO, if_false=CheckState.INFO)


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
        "machine_address": _info("Address made by software", "Not an address made by software"),
        "placeholder": _info("Placeholder for a missing address", "Not a placeholder"),
    },
}
_NOT_RUN = {
    "mixed_script": "Mixed scripts",
    "null_mx": "Null MX record",
    "accept_all": "Server accepts any mailbox",
    "has_tag": "+tag",
}


def group_checks(values: Mapping[str, bool | None]) -> list[CheckGroup]:
    groups = []
    for group, wordings in _GROUPS.items():
        checks = []
        for name, wording in wordings.items():
            outcomes = {
                None: (_NOT_RUN.get(name, wording.true), CheckState.NOT_RUN),
                True: (wording.true, wording.if_true),
                False: (wording.false, wording.if_false),
            }
            # Results of an earlier release don't have later checks.
            checks.append(Check(name, *outcomes[values.get(name)]))
        groups.append(CheckGroup(group, sorted(checks, key=lambda c: _ORDER.index(c.state))))
    return groups
