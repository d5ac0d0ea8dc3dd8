from enum import StrEnum


class Verdict(StrEnum):
    DELIVERABLE = "deliverable"
    RISKY = "risky"
    UNDELIVERABLE = "undeliverable"
    UNKNOWN = "unknown"


REASONS: dict[Verdict, tuple[str, ...]] = {
    Verdict.UNDELIVERABLE: (
        "invalid_syntax",
        "reserved_domain",
        "domain_not_found",
        "null_mx",
        "no_mail_server",
        "unroutable_mail_server",
        "impossible_mailbox",
        "mailbox_not_found",
        "mailbox_disabled",
    ),
    Verdict.RISKY: (
        "disposable",
        "parked",
        "accept_all",
        "mailbox_full",
        "unlikely_mailbox",
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
PRECEDENCE = tuple(VERDICT_BY_REASON)
