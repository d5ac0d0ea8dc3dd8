"""Results as the docs show them, made by the engine and the sandbox: they cannot be wrong."""

from typing import Any

from validation.engine.check import Domain, Engine, LookupLimit
from validation.engine.dns.mail_route import MailHost, Route
from validation.engine.sandbox import DOMAIN, sandbox_finding
from validation.engine.verdict import Finding

_ROUTE = Route(
    domain_exists=True,
    accepts_mail=True,
    null_mx=False,
    hosts=(MailHost(5, "mx.gmial.com"),),
    provider="other",
    spf="strict",
    dmarc="reject",
)


class _ToldEngine(Engine):
    """It asks nobody: of every domain it knows what the DNS would say of one."""

    def _search(self, domain: str, limit: LookupLimit | None) -> tuple[Domain, bool]:
        return self._about(domain, _ROUTE, self._staff_domains()), True


# Without staff's domains and resolvers.
_engine = _ToldEngine()


def sandbox_result(word: str) -> dict[str, Any]:
    finding = sandbox_finding(_engine.check_without_dns(f"{word}@{DOMAIN}"), word)
    return _result(finding, sandbox=True)


def mistyped_result() -> dict[str, Any]:
    """Of an address outside the sandbox, with all that the DNS tells."""
    return _result(_engine.check("Jane.Doe+news@GMIAL.com"), sandbox=False)


def _result(finding: Finding, *, sandbox: bool) -> dict[str, Any]:
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
    "Risky: probably mistyped": mistyped_result(),
    "Risky: a throw-away address": sandbox_result("disposable"),
    "Undeliverable: no such mailbox": sandbox_result("mailbox_not_found"),
    "Undeliverable: no address at all": sandbox_result("invalid_syntax"),
    "Unknown, and free": sandbox_result("dns_timeout"),
}
