"""Sample results for the docs, produced by the engine and the sandbox so that they stay correct."""

from validation.engine.check import Engine, LookupLimit
from validation.engine.dns.budget import FULL, LookupScope
from validation.engine.dns.mail_route import MailHost, MailRoute
from validation.engine.sandbox import SANDBOX_DOMAIN, sandbox_finding
from validation.engine.verdicts.decision import DomainInfo, describe_domain
from validation.engine.verdicts.finding import Finding

_ROUTE = MailRoute(
    domain_exists=True,
    accepts_mail=True,
    null_mx=False,
    hosts=(MailHost(5, "mx.gmial.com"),),
    provider="other",
    has_ipv4=True,
    spf="strict",
    dmarc="reject",
)


class _FixedRouteEngine(Engine):
    """Sends no queries: every domain gets the DNS result of `_ROUTE`."""

    def _look_up(
        self, domain: str, limit: LookupLimit | None, scope: LookupScope = FULL
    ) -> tuple[DomainInfo, bool]:
        return describe_domain(self.domain_data, domain, _ROUTE, self._staff_domains()), True


# Without resolvers and staff domains.
_engine = _FixedRouteEngine()


def sandbox_result(word: str) -> dict[str, object]:
    finding = sandbox_finding(_engine.check_without_dns(f"{word}@{SANDBOX_DOMAIN}"), word)
    return _build_result(finding, sandbox=True)


def mistyped_result() -> dict[str, object]:
    """Return the result for a mistyped address outside the sandbox, with all DNS fields."""
    return _build_result(_engine.check("Jane.Doe+news@GMIAL.com"), sandbox=False)


def _build_result(finding: Finding, *, sandbox: bool) -> dict[str, object]:
    return {
        "id": "val_01KAHJ8Q6YB3T5W7XNMV0ZRCDE",
        "created_at": "2026-11-20T18:30:00.123Z",
        "sandbox": sandbox,
        **finding.document(),
        "duration_ms": 14,
        "dns_cached": None if sandbox else finding.dns_cached,
        "credits": {"charged": 0 if sandbox else 1, "remaining": 4211},
    }


EXAMPLES = {
    "Deliverable": sandbox_result("deliverable"),
    "Risky: probable typo": mistyped_result(),
    "Risky: disposable address": sandbox_result("disposable"),
    "Undeliverable: mailbox not found": sandbox_result("mailbox_not_found"),
    "Undeliverable: invalid syntax": sandbox_result("invalid_syntax"),
    "Unknown (free)": sandbox_result("dns_timeout"),
}


def _build_batch() -> dict[str, object]:
    """Return a batch of two addresses, the first of them twice."""
    mistyped, simulated = mistyped_result(), sandbox_result("deliverable")
    free = {"charged": 0, "remaining": 4211}
    return {
        "id": "bat_01KAHJ8Q6YF7D2H4J6KMNPQRST",
        "created_at": "2026-11-20T18:30:00.123Z",
        "results": [
            {**mistyped, "duplicate_of": None},
            {**simulated, "duplicate_of": None},
            {**mistyped, "credits": free, "duplicate_of": 0},
        ],
        "summary": {
            "deliverable": 1,
            "risky": 1,
            "undeliverable": 0,
            "unknown": 0,
            "duplicates": 1,
        },
        "duration_ms": 21,
        "credits": {"charged": 1, "remaining": 4211},
    }


BATCH_EXAMPLE = _build_batch()
