from collections.abc import Mapping
from typing import Any, NamedTuple

from engine.dns.mail_route import NO_ROUTE, MailRoute
from engine.domain_data import DisposableBy
from engine.syntax.parsing import AddressParts, SyntaxProblem
from engine.verdicts.reasons import VERDICT_BY_REASON, Verdict
from engine.verdicts.score import compute_score

CHECKS = (
    *("syntax", "domain_exists", "accepts_mail", "null_mx", "disposable", "free_provider"),
    *("relay", "role_account", "no_reply", "has_tag", "reserved_domain", "smtputf8_required"),
    *("mixed_script", "accept_all", "mailbox_exists", "mailbox_full", "mailbox_disabled"),
    # Only append: the request log stores their positions.
    *("machine_address", "placeholder"),
)
_NO_CHECKS: dict[str, bool | None] = dict.fromkeys(CHECKS)
SIGN_UP_BLOCKERS = {"disposable", "no_reply", "mixed_script"}
# While a mailbox check is pending, by the number of conversations.
PENDING_SECONDS = (5, 360, 840, 2400)
RETRY_AFTER_SECONDS = {"dns_timeout": 60, "dns_failure": 300}
REFUSED_LOOKUP_RETRY_SECONDS = 600

REFUSED_ROUTE = MailRoute(problem="dns_failure", is_refused=True)
_NO_DATA: dict[str, Any] = {}


class Finding(NamedTuple):
    """Hold the result as a tuple, which is created faster than a frozen dataclass."""

    email: str
    reasons: tuple[str, ...]
    evidence: str
    # None if the syntax is invalid.
    parts: AddressParts | None = None
    canonical: str | None = None
    tag: str | None = None
    registrable_domain: str | None = None
    checks: Mapping[str, bool | None] = _NO_DATA
    route: MailRoute = NO_ROUTE
    syntax_problem: SyntaxProblem | None = None
    did_you_mean: str | None = None
    lookalike_of: str | None = None
    lists: Mapping[str, str] = _NO_DATA
    disposable_by: DisposableBy | None = None
    # None if the DNS wasn't needed.
    dns_cached: bool | None = None
    # `allowed`, `denied` or None. The service sets it; it never changes the verdict.
    account_list: str | None = None
    # Of a mailbox check: engine/smtp/finding.py.
    smtp: Mapping[str, Any] | None = None

    @property
    def reason(self) -> str:
        return self.reasons[0]

    @property
    def verdict(self) -> Verdict:
        return VERDICT_BY_REASON[self.reason]

    @property
    def is_definite(self) -> bool:
        return self.verdict != Verdict.UNKNOWN

    @property
    def has_mailbox_answer(self) -> bool:
        """Return whether a mail server said whether the mailbox exists."""
        return self.smtp is not None and self.checks.get("mailbox_exists") is not None

    @property
    def score(self) -> int | None:
        relay = ("relay",) if self.checks.get("relay") else ()
        facts = (*self.reasons, f"spf_{self.route.spf}", f"dmarc_{self.route.dmarc}", *relay)
        return compute_score(self.verdict, self.evidence, facts)

    @property
    def safe_to_send(self) -> bool | None:
        if self.account_list == "denied":
            return False
        if self.verdict == Verdict.DELIVERABLE:
            return True if self.evidence == "smtp" else None
        return None if self.verdict == Verdict.UNKNOWN else False

    @property
    def accept_for_signup(self) -> bool:
        if self.account_list is not None:
            return self.account_list == "allowed" and self.verdict != Verdict.UNDELIVERABLE
        is_refused = any(self.checks.get(name) for name in SIGN_UP_BLOCKERS)
        return self.verdict != Verdict.UNDELIVERABLE and not is_refused

    @property
    def retry_after_s(self) -> int | None:
        if self.smtp and self.smtp["state"] == "pending":
            return PENDING_SECONDS[self.smtp["attempts"]]
        if self.route.is_refused and not self.is_definite:
            return REFUSED_LOOKUP_RETRY_SECONDS
        return RETRY_AFTER_SECONDS.get(self.reason)

    def document(self) -> dict[str, Any]:
        parts, problem, route = self.parts, self.syntax_problem, self.route
        return {
            "email": self.email,
            "normalized": parts and parts.normalized,
            "canonical": self.canonical,
            "verdict": self.verdict,
            "reason": self.reason,
            "reasons": list(self.reasons),
            "score": self.score,
            "evidence": self.evidence,
            "safe_to_send": self.safe_to_send,
            "accept_for_signup": self.accept_for_signup,
            "did_you_mean": self.did_you_mean,
            "lookalike_of": self.lookalike_of,
            "retry_after_s": self.retry_after_s,
            "local_part": parts and parts.local_part,
            "tag": self.tag,
            "domain": parts and parts.domain,
            "ascii_domain": parts and parts.ascii_domain,
            "registrable_domain": self.registrable_domain,
            "checks": {**_NO_CHECKS, **self.checks},
            "syntax_error": problem and {"code": problem.code, "message": problem.message},
            "mx": {
                "provider": route.provider,
                "fallback": route.fallback,
                "gateway": route.is_gateway,
                "ipv4": route.has_ipv4,
                "records": [
                    {"preference": mail_host.preference, "host": mail_host.host}
                    for mail_host in route.hosts
                ],
            },
            "domain_auth": {"spf": route.spf, "dmarc": route.dmarc},
            "smtp": self.smtp,
            "lists": {**self.lists, "disposable_by": self.disposable_by},
            "account_list": self.account_list,
        }
