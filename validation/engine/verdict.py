"""What a result says, and in which order its reasons count. Pure; no Django."""

from dataclasses import dataclass, field
from typing import Any

from validation.engine.dns.mail_route import Route
from validation.engine.reasons import VERDICT_OF, Verdict
from validation.engine.score import score_of
from validation.engine.syntax import Parts, SyntaxProblem

CHECKS = (
    *("syntax", "domain_exists", "accepts_mail", "null_mx", "disposable", "free_provider"),
    *("relay", "role_account", "no_reply", "has_tag", "reserved_domain", "smtputf8_required"),
    *("mixed_script", "accept_all", "mailbox_exists", "mailbox_full", "mailbox_disabled"),
)
# Where a form should not let the address in, although mail might arrive.
NOT_FOR_SIGN_UP = {"disposable", "no_reply", "mixed_script"}
# When asking again makes sense, in seconds.
RETRY_AFTER = {"dns_timeout": 60, "dns_failure": 300}
# For a caller whose lookups have used up too many budgets of messages.
RETRY_AFTER_REFUSED_LOOKUP = 600


NO_ROUTE = Route()


@dataclass(frozen=True, slots=True)
class Finding:
    """What the engine found out about one address."""

    email: str
    reasons: tuple[str, ...]
    evidence: str
    # None when it is none.
    parts: Parts | None = None
    canonical: str | None = None
    tag: str | None = None
    registrable_domain: str | None = None
    # Those that were run; the others are null.
    checks: dict[str, bool | None] = field(default_factory=dict)
    route: Route = NO_ROUTE
    syntax_problem: SyntaxProblem | None = None
    did_you_mean: str | None = None
    lists: dict[str, str] = field(default_factory=dict)
    # None: the DNS was not asked.
    dns_cached: bool | None = None

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
        facts = [*self.reasons, f"spf_{self.route.spf}", f"dmarc_{self.route.dmarc}"]
        if self.checks.get("relay"):
            facts.append("relay")
        return score_of(self.verdict, self.evidence, facts)

    @property
    def safe_to_send(self) -> bool | None:
        if self.verdict == Verdict.DELIVERABLE:
            return True if self.evidence == "smtp" else None
        return None if self.verdict == Verdict.UNKNOWN else False

    @property
    def accept_for_signup(self) -> bool:
        is_refused = any(self.checks.get(name) for name in NOT_FOR_SIGN_UP)
        return self.verdict != Verdict.UNDELIVERABLE and not is_refused

    @property
    def retry_after_s(self) -> int | None:
        if self.route.is_refused and not self.is_definite:
            return RETRY_AFTER_REFUSED_LOOKUP
        return RETRY_AFTER.get(self.reason)

    def document(self) -> dict[str, Any]:
        """The result's fields that are the engine's to say, in the order of the documentation."""
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
            "retry_after_s": self.retry_after_s,
            "local_part": parts and parts.local_part,
            "tag": self.tag,
            "domain": parts and parts.domain,
            "ascii_domain": parts and parts.ascii_domain,
            "registrable_domain": self.registrable_domain,
            "checks": {name: self.checks.get(name) for name in CHECKS},
            "syntax_error": problem and {"code": problem.code, "message": problem.message},
            "mx": {
                "provider": route.provider,
                "fallback": route.fallback,
                "records": [
                    {"preference": one.preference, "host": one.host} for one in route.hosts
                ],
            },
            "domain_auth": {"spf": route.spf, "dmarc": route.dmarc},
            "smtp": None,
            "lists": self.lists,
        }
