"""The verdicts and their reasons, in order of precedence. Pure."""

from enum import StrEnum


class Verdict(StrEnum):
    DELIVERABLE = "deliverable"
    RISKY = "risky"
    UNDELIVERABLE = "undeliverable"
    UNKNOWN = "unknown"


# Each verdict's reasons, the one with the highest precedence first.
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
        "parked",
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
VERDICT_BY_REASON: dict[str, Verdict] = {
    reason: verdict for verdict, reasons in REASONS.items() for reason in reasons
}
# All reasons, the one with the highest precedence first.
PRECEDENCE = tuple(VERDICT_BY_REASON)
