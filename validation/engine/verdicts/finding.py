"""The result of a check. Pure."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from validation.engine.dns.mail_route import MailRoute
from validation.engine.domain_data import DisposableBy
from validation.engine.syntax.parsing import AddressParts, SyntaxProblem
from validation.engine.verdicts.reasons import VERDICT_BY_REASON, Verdict
from validation.engine.verdicts.score import compute_score

CHECKS = (
    *("syntax", "domain_exists", "accepts_mail", "null_mx", "disposable", "free_provider"),
    *("relay", "role_account", "no_reply", "has_tag", "reserved_domain", "smtputf8_required"),
    *("mixed_script", "accept_all", "mailbox_exists", "mailbox_full", "mailbox_disabled"),
)
_NO_CHECKS: dict[str, bool | None] = dict.fromkeys(CHECKS)
# The fields of a result that belong to the address or its domain. `mx`, which belongs to the
# domain too, is `Finding.mail_hosts`. All others follow from `Finding.facts`.
OWN_FIELDS = (
    *("email", "normalized", "canonical", "did_you_mean", "local_part", "tag"),
    *("domain", "ascii_domain", "registrable_domain"),
)
# Sign-up forms should refuse addresses with one of these, although mail might arrive.
SIGN_UP_BLOCKERS = {"disposable", "no_reply", "mixed_script"}
# After how many seconds a retry makes sense, by reason.
RETRY_AFTER_SECONDS = {"dns_timeout": 60, "dns_failure": 300}
# For callers whose lookups have exhausted too many message budgets.
REFUSED_LOOKUP_RETRY_SECONDS = 600

NO_ROUTE = MailRoute()


_NO_DATA: dict[str, Any] = {}


class Finding(NamedTuple):
    """The result of checking one address.

    A tuple is created faster than a frozen dataclass.
    """

    email: str
    reasons: tuple[str, ...]
    evidence: str
    # None if the syntax is invalid.
    parts: AddressParts | None = None
    canonical: str | None = None
    tag: str | None = None
    registrable_domain: str | None = None
    # Only the checks that were run. The others are null in the result.
    checks: Mapping[str, bool | None] = _NO_DATA
    route: MailRoute = NO_ROUTE
    syntax_problem: SyntaxProblem | None = None
    did_you_mean: str | None = None
    lists: Mapping[str, str] = _NO_DATA
    disposable_by: DisposableBy | None = None
    # None if the DNS was not needed.
    dns_cached: bool | None = None
    # Which of the account's own lists has the domain: `allowed`, `denied`, or None. Set by the
    # service, after the check: it never changes the verdict.
    account_list: str | None = None

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
        if self.route.is_refused and not self.is_definite:
            return REFUSED_LOOKUP_RETRY_SECONDS
        return RETRY_AFTER_SECONDS.get(self.reason)

    @property
    def facts(self) -> tuple[object, ...]:
        """Return what is equal for findings whose results differ in OWN_FIELDS and `mx` only.

        Compare it while the findings exist: the versions of the domain data, which all checks
        share until they change, are compared by their identity.
        """
        checks, route = self.checks, self.route
        return (
            *(self.reasons, self.evidence, self.syntax_problem, self.disposable_by),
            *(self.dns_cached, self.account_list, route.spf, route.dmarc, route.is_refused),
            id(self.lists),
            *checks,
            *checks.values(),
        )

    def own_values(self) -> tuple[str | None, ...]:
        """Return the values of OWN_FIELDS."""
        parts = self.parts
        if parts is None:
            return (self.email, None, None, self.did_you_mean, *(None,) * 5)
        return (
            *(self.email, parts.normalized, self.canonical, self.did_you_mean),
            *(parts.local_part, self.tag, parts.domain, parts.ascii_domain),
            self.registrable_domain,
        )

    def mail_hosts(self) -> dict[str, Any]:
        """Return where the domain's mail is delivered: the field `mx` of the result."""
        route = self.route
        return {
            "provider": route.provider,
            "fallback": route.fallback,
            "gateway": route.is_gateway,
            "ipv4": route.has_ipv4,
            "records": [
                {"preference": mail_host.preference, "host": mail_host.host}
                for mail_host in route.hosts
            ],
        }

    def document(self) -> dict[str, Any]:
        """Return the engine's part of the API result, in the order of the documentation."""
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
            "checks": {**_NO_CHECKS, **self.checks},
            "syntax_error": problem and {"code": problem.code, "message": problem.message},
            "mx": self.mail_hosts(),
            "domain_auth": {"spf": route.spf, "dmarc": route.dmarc},
            "smtp": None,
            "lists": {**self.lists, "disposable_by": self.disposable_by},
            "account_list": self.account_list,
        }
