"""What a result says, and in which order its reasons count. Pure; no Django."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Verdict(StrEnum):
    DELIVERABLE = "deliverable"
    RISKY = "risky"
    UNDELIVERABLE = "undeliverable"
    UNKNOWN = "unknown"


# Each verdict's reasons, the one that decides first.
REASONS: dict[Verdict, tuple[str, ...]] = {
    Verdict.UNDELIVERABLE: (
        "invalid_syntax",
        "reserved_domain",
        "domain_not_found",
        "null_mx",
        "no_mail_server",
        "unroutable_mail_server",
        "mailbox_not_found",
        "mailbox_disabled",
    ),
    Verdict.RISKY: (
        "disposable",
        "accept_all",
        "mailbox_full",
        "possible_typo",
        "mixed_script",
        "role_account",
        "no_reply",
        "smtputf8_required",
        "no_mx_record",
    ),
    Verdict.UNKNOWN: (
        "dns_timeout",
        "dns_failure",
        "smtp_unreachable",
        "smtp_timeout",
        "greylisted",
        "server_temporary_error",
        "server_refused_us",
        "check_failed",
    ),
    Verdict.DELIVERABLE: ("mailbox_accepted", "domain_accepts_mail"),
}
VERDICT_OF: dict[str, Verdict] = {
    reason: verdict for verdict, reasons in REASONS.items() for reason in reasons
}
CHECKS = (
    *("syntax", "domain_exists", "accepts_mail", "null_mx", "disposable", "free_provider"),
    *("relay", "role_account", "no_reply", "has_tag", "reserved_domain", "smtputf8_required"),
    *("mixed_script", "accept_all", "mailbox_exists", "mailbox_full", "mailbox_disabled"),
)
# Where a form should not let the address in, although mail might arrive.
NOT_FOR_SIGN_UP = {"disposable", "no_reply", "mixed_script"}
# When asking again makes sense, in seconds.
RETRY_AFTER = {"dns_timeout": 60, "dns_failure": 300}


@dataclass(frozen=True)
class SyntaxProblem:
    code: str
    message: str


@dataclass(frozen=True)
class Parts:
    """An address taken apart; all None when it is none."""

    normalized: str | None = None
    local_part: str | None = None
    tag: str | None = None
    domain: str | None = None
    ascii_domain: str | None = None
    canonical: str | None = None


@dataclass(frozen=True)
class Finding:
    """What the engine found out about one address."""

    email: str
    reasons: tuple[str, ...]
    evidence: str
    parts: Parts = field(default_factory=Parts)
    # Those that were run; the others are null.
    checks: dict[str, bool] = field(default_factory=dict)
    syntax_problem: SyntaxProblem | None = None
    did_you_mean: str | None = None

    @property
    def reason(self) -> str:
        return self.reasons[0]

    @property
    def verdict(self) -> Verdict:
        return VERDICT_OF[self.reason]

    @property
    def is_definite(self) -> bool:
        return self.verdict != Verdict.UNKNOWN

    @property
    def score(self) -> int | None:
        return _score(self.verdict, self.reason, self.evidence)

    @property
    def safe_to_send(self) -> bool | None:
        if self.verdict == Verdict.DELIVERABLE:
            return True if self.evidence == "smtp" else None
        return None if self.verdict == Verdict.UNKNOWN else False

    @property
    def accept_for_signup(self) -> bool:
        return self.verdict != Verdict.UNDELIVERABLE and not NOT_FOR_SIGN_UP & {*self.reasons}

    def document(self) -> dict[str, Any]:
        """The result's fields that are the engine's to say, in the order of the documentation."""
        parts, problem = self.parts, self.syntax_problem
        return {
            "email": self.email,
            "normalized": parts.normalized,
            "canonical": parts.canonical,
            "verdict": self.verdict,
            "reason": self.reason,
            "reasons": list(self.reasons),
            "score": self.score,
            "evidence": self.evidence,
            "safe_to_send": self.safe_to_send,
            "accept_for_signup": self.accept_for_signup,
            "did_you_mean": self.did_you_mean,
            "retry_after_s": RETRY_AFTER.get(self.reason),
            "local_part": parts.local_part,
            "tag": parts.tag,
            "domain": parts.domain,
            "ascii_domain": parts.ascii_domain,
            "registrable_domain": None,
            "checks": {name: self.checks.get(name) for name in CHECKS},
            "syntax_error": problem and {"code": problem.code, "message": problem.message},
            "mx": {"provider": None, "fallback": None, "records": []},
            "domain_auth": {"spf": None, "dmarc": None},
            "smtp": None,
            "lists": {},
        }


def _score(verdict: Verdict, reason: str, evidence: str) -> int | None:
    """The same for the same facts: a mailbox that answered beats a domain that takes mail."""
    if verdict == Verdict.UNKNOWN:
        return None
    if verdict == Verdict.UNDELIVERABLE:
        return 0
    if verdict == Verdict.DELIVERABLE:
        return 100 if evidence == "smtp" else 85
    # The graver the reason, the lower: disposable 10, and so on up to no_mx_record.
    return 10 + 7 * REASONS[Verdict.RISKY].index(reason)
