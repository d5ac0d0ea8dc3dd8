"""Build sample results for the docs with the engine, so that they stay correct."""

from engine import SANDBOX_DOMAIN, Engine, Finding, MailHost, MailRoute, as_pending

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


# Without resolvers and staff domains.
_engine = Engine()


def sandbox_result(word: str) -> dict[str, object]:
    return _build_result(_engine.simulate(f"{word}@{SANDBOX_DOMAIN}", word), sandbox=True)


def mistyped_result() -> dict[str, object]:
    """Return the result for a mistyped address outside the sandbox, with all DNS fields."""
    facts = {"gmial.com": _engine.describe("gmial.com", _ROUTE)}
    return _build_result(_engine.check_offline("Jane.Doe+news@GMIAL.com", facts), sandbox=False)


def pending_result() -> dict[str, object]:
    facts = {"gmial.com": _engine.describe("gmial.com", _ROUTE)}
    finding = as_pending(_engine.check_offline("jane@gmial.com", facts))
    credits = {"charged": 0, "held": 2, "remaining": 4211}
    return {**_build_result(finding, sandbox=False), "credits": credits}


def _build_result(finding: Finding, *, sandbox: bool) -> dict[str, object]:
    return {
        "id": "val_01KAHJ8Q6YB3T5W7XNMV0ZRCDE",
        "created_at": "2026-11-20T18:30:00.123Z",
        "sandbox": sandbox,
        **finding.document(),
        "duration_ms": 14,
        "dns_cached": None if sandbox else False,
        "credits": {"charged": 0 if sandbox else 1, "held": 0, "remaining": 4211},
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
    mistyped, simulated = mistyped_result(), sandbox_result("deliverable")
    free = {"charged": 0, "held": 0, "remaining": 4211}
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
        "credits": {"charged": 1, "held": 0, "remaining": 4211},
    }


BATCH_EXAMPLE = _build_batch()
