"""What the page about a domain says, and its JSON."""

from datetime import date
from typing import Any

from accounts.date_display import date_format
from accounts.engine import get_engine
from engine import Finding, Verdict, explain_result, is_below
from validation.staff_domains import current

_FIELDS = (
    *("domain", "ascii_domain", "registrable_domain", "verdict", "reason", "reasons"),
    *("lookalike_of", "retry_after_s", "mx", "lists"),
)
_CHECKS = (
    *("domain_exists", "accepts_mail", "null_mx", "disposable", "free_provider", "relay"),
    *("reserved_domain", "mixed_script"),
)
_STATUSES = {
    "disposable": "disposable",
    "parked": "parked",
    "possible_typo": "likely typo",
    Verdict.DELIVERABLE: "accepts mail",
    Verdict.UNDELIVERABLE: "accepts no mail",
}


def domain_document(finding: Finding) -> dict[str, Any]:
    """Return the fields of a result that concern the domain."""
    document = finding.document()
    return {
        **{name: document[name] for name in _FIELDS},
        "did_you_mean": (finding.did_you_mean or "").rpartition("@")[2] or None,
        "checks": {name: document["checks"].get(name) for name in _CHECKS},
    }


def describe_status(finding: Finding) -> tuple[str, str]:
    """Return a word or two, and a sentence."""
    verdict, reason = finding.verdict, finding.reason
    means = explain_result(reason, finding.did_you_mean).means
    label = _STATUSES.get(reason) or _STATUSES.get(verdict) or verdict.value
    return label, "The domain accepts mail." if verdict == Verdict.DELIVERABLE else means


def explain_disposable(finding: Finding, ascii_domain: str) -> str:
    """Say which list names the domain or its mail host, and of which day it is."""
    decided = current().are_disposable(ascii_domain)
    if decided is not None:
        return f"Our support team {'listed' if decided else 'cleared'} it after a report."
    data, day = get_engine().domain_data, _format(finding.lists["disposable"])
    if finding.disposable_by == "domain":
        return f"By name: the domain is in our lists of disposable domains of {day}."
    if finding.disposable_by is None:
        return f"Neither its name nor its mail host is in our lists of {day}."
    for _, host in finding.route.hosts:
        if is_below(host, data.disposable_hosts):
            day = _format(data.read("disposable_hosts").date)
            return f"By mail host: {host} is in our list of disposable mail hosts of {day}."
    return "By mail host: our support team found that it serves disposable domains."


def _format(day: str) -> str:
    return date_format(date.fromisoformat(day))
