from collections.abc import Mapping
from typing import Any

from engine.smtp.mailbox import MailboxAnswer
from engine.verdicts.finding import Finding
from engine.verdicts.reasons import PRECEDENCE, VERDICT_BY_REASON, Verdict

_ANSWERED = ("accept_all", "mailbox_exists", "mailbox_full", "mailbox_disabled")
_CHECKS: dict[str, dict[str, bool | None]] = {
    "mailbox_accepted": {
        "mailbox_exists": True,
        "accept_all": False,
        "mailbox_full": False,
        "mailbox_disabled": False,
    },
    "mailbox_not_found": {"mailbox_exists": False, "accept_all": False},
    "mailbox_disabled": {"mailbox_exists": True, "mailbox_disabled": True, "accept_all": False},
    "mailbox_full": {"mailbox_exists": True, "mailbox_full": True, "accept_all": False},
    "accept_all": {"accept_all": True, "mailbox_exists": None},
}
# A server that accepts the name knows better than the provider's rules for new mailboxes.
_DISPROVED = {"mailbox_accepted": {"unlikely_mailbox"}}
# The others are unknown because no server replied.
_REPLIED = {"greylisted", "server_temporary_error", "server_refused_us"}
_SMTP_FIELDS = (
    *("state", "host", "stage", "code", "status", "message", "tls", "control", "probed_at"),
    *("attempts", "skipped"),
)


def smtp_document(state: str, **known: Any) -> dict[str, Any]:
    """Return a result's `smtp`: pending, done or skipped."""
    return {**dict.fromkeys(_SMTP_FIELDS), "state": state, **known}


def as_pending(finding: Finding) -> Finding:
    """Return what is known until a mail server answers."""
    return finding._replace(reasons=("smtp_timeout",), smtp=smtp_document("pending", attempts=0))


def without_answer(finding: Finding, reason: str, attempts: int = 0) -> Finding:
    return with_mailbox(finding, MailboxAnswer(reason), smtp_document("done", attempts=attempts))


def as_failed(finding: Finding, attempts: int) -> Finding:
    """Return what is left of a finding that isn't paid for: nothing of the answer."""
    return finding._replace(
        reasons=("check_failed",),
        evidence="dns",
        checks={**finding.checks, **dict.fromkeys(_ANSWERED)},
        smtp=smtp_document("done", attempts=attempts),
    )


def with_mailbox(finding: Finding, answer: MailboxAnswer, smtp: Mapping[str, Any]) -> Finding:
    """Add a mail server's answer to what the DNS says. Risks that it says nothing about remain."""
    finding = finding._replace(smtp=smtp)
    if not finding.is_definite or finding.verdict == Verdict.UNDELIVERABLE:
        return finding
    reason = answer.reason
    if VERDICT_BY_REASON[reason] == Verdict.UNKNOWN:
        evidence = "smtp" if reason in _REPLIED else finding.evidence
        return finding._replace(reasons=(reason,), evidence=evidence)
    if reason not in _CHECKS:
        # The control was unclear, so the answer adds nothing.
        return finding
    others = set(finding.reasons) - {"domain_accepts_mail"} - _DISPROVED.get(reason, set())
    reasons = others if others and reason == "mailbox_accepted" else others | {reason}
    return finding._replace(
        reasons=tuple(sorted(reasons, key=PRECEDENCE.index)),
        evidence="smtp",
        checks={**finding.checks, **_CHECKS[reason]},
    )
