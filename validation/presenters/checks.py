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
class ShownCheck:
    name: str
    text: str
    state: CheckState

    @property
    def icon(self) -> str:
        return _ICONS[self.state]

    @property
    def tone(self) -> str:
        return self.state.name.lower().replace("_", "-")


# What a check says, and in which state it is, if it is true, and if it is false.
Outcomes = tuple[str, CheckState, str, CheckState]
FAILED, RISK, PASSED, INFO, NOT_RUN = CheckState

_GROUPS: dict[str, dict[str, Outcomes]] = {
    "Syntax": {
        "syntax": ("Valid syntax", PASSED, "Invalid syntax", FAILED),
        "mixed_script": ("Mixed scripts in one word", RISK, "No mixed scripts", PASSED),
        "smtputf8_required": ("SMTPUTF8 required", RISK, "SMTPUTF8 not required", PASSED),
        "has_tag": ("Has a +tag", INFO, "No +tag", INFO),
    },
    "Domain": {
        "domain_exists": ("Domain exists", PASSED, "Domain doesn't exist", FAILED),
        "accepts_mail": ("Domain accepts mail", PASSED, "Domain doesn't accept mail", FAILED),
        "null_mx": ("Null MX record: no mail accepted", FAILED, "No null MX record", PASSED),
        "reserved_domain": ("Reserved domain", FAILED, "Not a reserved domain", PASSED),
        "disposable": ("Disposable domain", RISK, "Not a disposable domain", PASSED),
        "free_provider": ("Free email provider", INFO, "Not a free email provider", INFO),
        "relay": ("Relay address", INFO, "Not a relay address", INFO),
    },
    "Mailbox": {
        "mailbox_exists": ("Mailbox exists", PASSED, "Mailbox doesn't exist", FAILED),
        "mailbox_disabled": ("Mailbox is disabled", FAILED, "Mailbox isn't disabled", PASSED),
        "mailbox_full": ("Mailbox is full", RISK, "Mailbox isn't full", PASSED),
        "accept_all": (
            "Server accepts any mailbox",
            RISK,
            "Server rejects unknown mailboxes",
            PASSED,
        ),
        "role_account": ("Role account", RISK, "Not a role account", PASSED),
        "no_reply": ("No-reply address", RISK, "Not a no-reply address", PASSED),
        "machine_address": (
            "Address made by software",
            INFO,
            "Not an address made by software",
            INFO,
        ),
        "placeholder": ("Placeholder for a missing address", INFO, "Not a placeholder", INFO),
    },
}
_NOT_RUN = {"mixed_script": "Mixed scripts", "null_mx": "Null MX record", "has_tag": "+tag"}


def group_checks(values: Mapping[str, bool | None]) -> dict[str, list[ShownCheck]]:
    groups = {}
    for group, outcomes_by_name in _GROUPS.items():
        checks = []
        for name, (true, state_if_true, false, state_if_false) in outcomes_by_name.items():
            outcomes = {
                None: (_NOT_RUN.get(name, true), NOT_RUN),
                True: (true, state_if_true),
                False: (false, state_if_false),
            }
            # Results of an earlier release don't have later checks.
            checks.append(ShownCheck(name, *outcomes[values.get(name)]))
        groups[group] = sorted(checks, key=lambda check: _ORDER.index(check.state))
    return groups
