from typing import NamedTuple

from engine.verdicts.reasons import REASONS


class Meaning(NamedTuple):
    means: str
    do: str


_RETRY = "Validate it again {}; this request was free. Accept it in a form."
_RETRY_LATER = _RETRY.format("later")
_REMOVE = "Remove it."
_ASK = "Ask for another address."
_ASK_OR_SUGGEST = "Ask for another address, or show `did_you_mean` if there is one."
_SEND_AND_WATCH = "Send, and watch for bounces."
MEANINGS = {
    "invalid_syntax": Meaning(
        "The address has invalid syntax.", f"{_ASK_OR_SUGGEST} `syntax_error` has the details."
    ),
    "reserved_domain": Meaning(
        "The domain is reserved for tests, examples or private networks.", _ASK
    ),
    "domain_not_found": Meaning("The domain doesn't exist.", _ASK_OR_SUGGEST),
    "null_mx": Meaning("The domain declares that it accepts no mail (RFC 7505).", _ASK),
    "no_mail_server": Meaning(
        "The domain exists, but none of its mail hosts has an IP address.", _ASK
    ),
    "unroutable_mail_server": Meaning(
        "Its mail hosts have no IP address that's reachable on the public internet.", _ASK
    ),
    "impossible_mailbox": Meaning(
        "The provider's published rules exclude this mailbox: a character, or the length.", _ASK
    ),
    "mailbox_not_found": Meaning(
        "The mail server reports that the mailbox doesn't exist.", _REMOVE
    ),
    "mailbox_disabled": Meaning("The mailbox is disabled.", _REMOVE),
    "disposable": Meaning(
        "Disposable address: the domain offers temporary mailboxes.",
        "Refuse it at sign-up. Expect the mailbox to disappear soon.",
    ),
    "parked": Meaning(
        "The domain is parked: a domain parking service receives its mail.", _ASK_OR_SUGGEST
    ),
    "accept_all": Meaning(
        "The server accepts mail for any mailbox, even one that doesn't exist.", _SEND_AND_WATCH
    ),
    "mailbox_full": Meaning("The mailbox is full.", "Try again in a few days."),
    "unlikely_mailbox": Meaning(
        "The mailbox is shorter than its provider allows today. Few early accounts are.",
        "Ask the person to check the address. Leave it out of campaigns.",
    ),
    "possible_typo": Meaning(
        "The domain is one typo away from a much better-known domain.",
        "Show the suggestion; let the user decide.",
    ),
    "mixed_script": Meaning(
        "One word mixes letters of several scripts, as in spoofed names.",
        "Refuse it at sign-up. Review it before you show it to others.",
    ),
    "role_account": Meaning(
        "The mailbox belongs to a role, such as info or sales.",
        "Fine for business mail. Leave it out of campaigns.",
    ),
    "no_reply": Meaning("No-reply address.", "Refuse it at sign-up."),
    "smtputf8_required": Meaning(
        "The part before the @ has non-ASCII characters.",
        "Send only if your mail server supports SMTPUTF8.",
    ),
    "no_mx_record": Meaning(
        "The domain has no MX record; mail goes to its own IP address (RFC 5321, 5.1).",
        _SEND_AND_WATCH,
    ),
    "dns_timeout": Meaning("DNS didn't respond in time.", _RETRY.format("after 60 seconds")),
    "dns_failure": Meaning(
        "DNS failed, contradicted itself, or needed too many queries.",
        _RETRY.format("after 300 seconds"),
    ),
    "smtp_unreachable": Meaning("No mail host could be reached.", _RETRY_LATER),
    "smtp_timeout": Meaning("The mail host didn't respond in time.", _RETRY_LATER),
    "greylisted": Meaning("The mail host defers mail from unknown senders.", _RETRY_LATER),
    "server_temporary_error": Meaning("The mail host has a temporary problem.", _RETRY_LATER),
    "server_refused_us": Meaning("The mail host refused our connection.", _RETRY_LATER),
    "check_failed": Meaning("A check failed on our side.", _RETRY_LATER),
    "mailbox_accepted": Meaning("The mail host accepts mail for this mailbox.", "Send."),
    "domain_accepts_mail": Meaning(
        "The domain accepts mail. We didn't check the mailbox.", _SEND_AND_WATCH
    ),
}
# For future mailbox checks, so that clients can handle them.
RESERVED_REASONS = frozenset(
    {
        *("mailbox_not_found", "mailbox_disabled", "mailbox_full", "accept_all"),
        *("mailbox_accepted", "smtp_unreachable", "smtp_timeout", "greylisted"),
        *("server_temporary_error", "server_refused_us"),
    }
)


def explain_result(reason: str, did_you_mean: str | None) -> Meaning:
    """Return what the reason means for an address: for a typo, name the suggested domain."""
    meaning = MEANINGS[reason]
    if reason == "possible_typo" and did_you_mean:
        domain = did_you_mean.rpartition("@")[2]
        return meaning._replace(means=f"Looks like a typo of {domain}.")
    return meaning


def reasons_by_verdict() -> list[tuple[str, list[tuple[str, Meaning, bool]]]]:
    return [
        (verdict.value, [(code, MEANINGS[code], code not in RESERVED_REASONS) for code in reasons])
        for verdict, reasons in REASONS.items()
    ]
