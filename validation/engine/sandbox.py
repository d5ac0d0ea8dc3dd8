"""`<word>@sandbox.test`: every answer there is, for developers to try. Touches no network. Pure.

The word is a verdict, a reason or an error code; a +tag may follow it. What has another word is
what the domain says: reserved.
"""

from dataclasses import replace

from validation.engine.reasons import VERDICT_OF
from validation.engine.syntax import SyntaxProblem
from validation.engine.verdict import Finding

DOMAIN = "sandbox.test"

_REASON_OF_VERDICT = {
    "deliverable": "mailbox_accepted",
    "risky": "accept_all",
    "undeliverable": "mailbox_not_found",
    "unknown": "dns_timeout",
}
_DNS = {"syntax": True, "reserved_domain": False}
_MAIL = {**_DNS, "domain_exists": True, "accepts_mail": True, "null_mx": False}
_ASKED = {**_MAIL, "disposable": False, "accept_all": False}
_SUGGESTION = "{0.local_part}@mailbox.test"
# How far the service looked, and what it found, where the reason is one of these.
_EVIDENCE: dict[str, tuple[str, dict[str, bool]]] = {
    "reserved_domain": ("syntax", {"syntax": True, "reserved_domain": True}),
    "domain_not_found": ("dns", {**_DNS, "domain_exists": False, "accepts_mail": False}),
    "null_mx": ("dns", {**_DNS, "domain_exists": True, "accepts_mail": False, "null_mx": True}),
    "no_mail_server": ("dns", {**_MAIL, "accepts_mail": False}),
    "unroutable_mail_server": ("dns", {**_MAIL, "accepts_mail": False}),
    "mailbox_not_found": ("smtp", {**_ASKED, "mailbox_exists": False}),
    "mailbox_disabled": ("smtp", {**_ASKED, "mailbox_exists": True, "mailbox_disabled": True}),
    "disposable": ("dns", {**_MAIL, "disposable": True}),
    "accept_all": ("smtp", {**_MAIL, "accept_all": True}),
    "mailbox_full": ("smtp", {**_ASKED, "mailbox_exists": True, "mailbox_full": True}),
    "mixed_script": ("dns", {**_MAIL, "mixed_script": True}),
    "role_account": ("dns", {**_MAIL, "role_account": True}),
    "no_reply": ("dns", {**_MAIL, "no_reply": True}),
    "smtputf8_required": ("dns", {**_MAIL, "smtputf8_required": True}),
    "dns_timeout": ("syntax", _DNS),
    "dns_failure": ("syntax", _DNS),
    "smtp_unreachable": ("dns", _MAIL),
    "smtp_timeout": ("dns", _MAIL),
    "greylisted": ("smtp", _MAIL),
    "server_temporary_error": ("smtp", _MAIL),
    "server_refused_us": ("smtp", _MAIL),
    "check_failed": ("syntax", _DNS),
    "mailbox_accepted": (
        "smtp",
        {**_ASKED, "mailbox_exists": True, "mailbox_full": False, "mailbox_disabled": False},
    ),
}


def sandbox_word(email: str) -> str | None:
    """None for an address that is not of the sandbox."""
    local, _, domain = email.rpartition("@")
    if domain.lower() != DOMAIN or not local:
        return None
    return local.lower().partition("+")[0]


def sandbox_finding(plain: Finding, word: str) -> Finding:
    """`plain`: what is true of the address without the sandbox."""
    reason = _REASON_OF_VERDICT.get(word, word)
    # An address that cannot be is wrong in the sandbox too.
    if reason not in VERDICT_OF or plain.parts is None:
        return plain
    if reason == "invalid_syntax":
        return Finding(
            plain.email,
            (reason,),
            "syntax",
            checks={"syntax": False},
            syntax_problem=SyntaxProblem("no_at_sign"),
            lists=plain.lists,
        )
    evidence, checks = _EVIDENCE.get(reason, ("dns", _MAIL))
    return replace(
        plain,
        reasons=(reason,),
        evidence=evidence,
        checks={**checks, "has_tag": plain.checks["has_tag"]},
        did_you_mean=_SUGGESTION.format(plain.parts) if reason == "possible_typo" else None,
    )
