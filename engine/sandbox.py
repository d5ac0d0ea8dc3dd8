"""Simulate every result for `<word>@sandbox.test`.

The word is a verdict, a reason or an error code, perhaps with a +tag.
"""

from typing import Any

from engine.smtp.finding import smtp_document
from engine.syntax.parsing import SyntaxProblem
from engine.verdicts.finding import Finding
from engine.verdicts.reasons import VERDICT_BY_REASON

SANDBOX_DOMAIN = "sandbox.test"

_REASON_BY_VERDICT = {
    "deliverable": "mailbox_accepted",
    "risky": "accept_all",
    "undeliverable": "mailbox_not_found",
    "unknown": "dns_timeout",
}
_DNS = {"syntax": True, "reserved_domain": False}
_MAIL = {**_DNS, "domain_exists": True, "accepts_mail": True, "null_mx": False}
_SMTP = {**_MAIL, "disposable": False, "accept_all": False}
_OF_THE_ADDRESS = ("has_tag", "machine_address", "placeholder")
_SUGGESTION, _LOOKALIKE_OF = "{0.local_part}@mailbox.test", "mailbox.test"
# The others come from the DNS.
_EVIDENCE: dict[str, tuple[str, dict[str, bool]]] = {
    "reserved_domain": ("syntax", {"syntax": True, "reserved_domain": True}),
    "domain_not_found": ("dns", {**_DNS, "domain_exists": False, "accepts_mail": False}),
    "null_mx": ("dns", {**_DNS, "domain_exists": True, "accepts_mail": False, "null_mx": True}),
    "no_mail_server": ("dns", {**_MAIL, "accepts_mail": False}),
    "unroutable_mail_server": ("dns", {**_MAIL, "accepts_mail": False}),
    "mailbox_not_found": ("smtp", {**_SMTP, "mailbox_exists": False}),
    "mailbox_disabled": ("smtp", {**_SMTP, "mailbox_exists": True, "mailbox_disabled": True}),
    "disposable": ("dns", {**_MAIL, "disposable": True}),
    "accept_all": ("smtp", {**_MAIL, "accept_all": True}),
    "mailbox_full": ("smtp", {**_SMTP, "mailbox_exists": True, "mailbox_full": True}),
    "mixed_script": ("dns", {**_MAIL, "mixed_script": True}),
    "role_account": ("dns", {**_MAIL, "role_account": True}),
    "no_reply": ("dns", {**_MAIL, "no_reply": True}),
    "smtputf8_required": ("dns", {**_MAIL, "smtputf8_required": True}),
    "dns_timeout": ("syntax", _DNS),
    "dns_failure": ("syntax", _DNS),
    "greylisted": ("smtp", _MAIL),
    "server_temporary_error": ("smtp", _MAIL),
    "server_refused_us": ("smtp", _MAIL),
    "check_failed": ("syntax", _DNS),
    "mailbox_accepted": (
        "smtp",
        {**_SMTP, "mailbox_exists": True, "mailbox_full": False, "mailbox_disabled": False},
    ),
}
# Of the reply to the name: code, enhanced status, text.
_REPLIES = {
    "mailbox_accepted": (250, "2.1.5", "OK"),
    "accept_all": (250, "2.1.5", "OK"),
    "mailbox_not_found": (550, "5.1.1", "User unknown"),
    "mailbox_disabled": (550, "5.2.1", "The mailbox is disabled"),
    "mailbox_full": (552, "5.2.2", "The mailbox is over quota"),
    "greylisted": (451, "4.7.1", "Greylisted, please try again later"),
    "server_temporary_error": (451, "4.3.0", "Temporary system problem"),
    "server_refused_us": (554, "5.7.1", "Your address is on a block list"),
}
_CONTROLS = {
    "accept_all": "accepted",
    "mailbox_accepted": "refused",
    "mailbox_not_found": "accepted",
}


def sandbox_word(email: str) -> str | None:
    local, _, domain = email.rpartition("@")
    if domain.lower() != SANDBOX_DOMAIN or not local:
        return None
    return local.lower().partition("+")[0]


def sandbox_smtp(reason: str) -> dict[str, Any]:
    if reason not in _REPLIES:
        is_silent = reason in {"smtp_unreachable", "smtp_timeout"}
        skipped = None if is_silent else "decided"
        return smtp_document("done" if is_silent else "skipped", skipped=skipped)
    code, status, message = _REPLIES[reason]
    return smtp_document(
        "done",
        host=f"mx.{SANDBOX_DOMAIN}",
        stage="connect" if reason == "server_refused_us" else "rcpt",
        code=code,
        status=status,
        message=message,
        tls=True,
        control=_CONTROLS.get(reason),
        attempts=1,
    )


def sandbox_finding(finding: Finding, word: str) -> Finding:
    reason = _REASON_BY_VERDICT.get(word, word)
    # Invalid addresses stay invalid.
    if reason not in VERDICT_BY_REASON or finding.parts is None:
        return finding
    if reason == "invalid_syntax":
        return Finding(
            finding.email,
            (reason,),
            "syntax",
            checks={"syntax": False},
            syntax_problem=SyntaxProblem("no_at_sign"),
            lists=finding.lists,
        )
    evidence, checks = _EVIDENCE.get(reason, ("dns", _MAIL))
    return finding._replace(
        reasons=(reason,),
        evidence=evidence,
        checks={**checks, **{name: finding.checks[name] for name in _OF_THE_ADDRESS}},
        did_you_mean=_SUGGESTION.format(finding.parts) if reason == "possible_typo" else None,
        lookalike_of=_LOOKALIKE_OF if reason == "parked" else None,
        disposable_by="domain" if reason == "disposable" else None,
    )
