"""Explain each reason and what to do about it. The docs are generated from this. Pure."""

from typing import NamedTuple

from validation.engine.reasons import REASONS


class Meaning(NamedTuple):
    means: str
    do: str


_RETRY = "Retry {}; this result was free. In a form, accept the address."
_RETRY_LATER = _RETRY.format("later")
MEANINGS = {
    "invalid_syntax": Meaning(
        "The syntax is invalid; syntax_error says why.",
        "Ask for another address, and suggest did_you_mean if it is set.",
    ),
    "reserved_domain": Meaning(
        "The domain is reserved for tests, examples or private networks.",
        "Ask for another address.",
    ),
    "domain_not_found": Meaning(
        "The domain does not exist.",
        "Ask for another address, and suggest did_you_mean if it is set.",
    ),
    "null_mx": Meaning(
        "The domain publishes a null MX record: it accepts no mail (RFC 7505).",
        "Ask for another address.",
    ),
    "no_mail_server": Meaning(
        "The domain exists, but none of its mail hosts has an IP address.",
        "Ask for another address.",
    ),
    "unroutable_mail_server": Meaning(
        "The mail hosts have only IP addresses that are not on the public internet.",
        "Ask for another address.",
    ),
    "mailbox_not_found": Meaning(
        "The mail server says that the mailbox does not exist.", "Remove the address."
    ),
    "mailbox_disabled": Meaning("The mailbox is disabled.", "Remove the address."),
    "disposable": Meaning(
        "The domain belongs to a disposable email provider.",
        "Refuse it at sign-up. The mailbox will probably stop working soon.",
    ),
    "accept_all": Meaning(
        "The mail server accepts mail for every mailbox, existing or not.",
        "Send, and monitor bounces.",
    ),
    "mailbox_full": Meaning("The mailbox is full.", "Try again in a few days."),
    "possible_typo": Meaning(
        "The domain differs by one typo from a far better known one.",
        "Suggest did_you_mean. Do not block the address or correct it without asking.",
    ),
    "mixed_script": Meaning(
        "One word mixes letters of several scripts, a sign of spoofing.",
        "Refuse it at sign-up, and review it before you show it to others.",
    ),
    "role_account": Meaning(
        "The mailbox belongs to a role, such as info or sales.",
        "Use it for business mail, but leave it out of campaigns.",
    ),
    "no_reply": Meaning("No-reply address: mail to it is not read.", "Refuse it at sign-up."),
    "smtputf8_required": Meaning(
        "The part before the @ has non-ASCII characters.",
        "Send only if your mail server supports SMTPUTF8.",
    ),
    "no_mx_record": Meaning(
        "The domain has no MX record; mail goes to its own IP address (RFC 5321, 5.1).",
        "Send, and monitor bounces.",
    ),
    "dns_timeout": Meaning("The DNS did not respond in time.", _RETRY.format("after 60 s")),
    "dns_failure": Meaning(
        "The DNS failed, contradicted itself, or needed too many queries.",
        _RETRY.format("after 300 s"),
    ),
    "smtp_unreachable": Meaning("No mail host could be reached.", _RETRY_LATER),
    "smtp_timeout": Meaning("The mail host did not respond in time.", _RETRY_LATER),
    "greylisted": Meaning("The mail host defers unknown senders (greylisting).", _RETRY_LATER),
    "server_temporary_error": Meaning("The mail host reported a temporary error.", _RETRY_LATER),
    "server_refused_us": Meaning("The mail host refused our connection.", _RETRY_LATER),
    "check_failed": Meaning("The check failed on our side.", _RETRY_LATER),
    "mailbox_accepted": Meaning("The mail host accepts mail for this mailbox.", "Send."),
    "domain_accepts_mail": Meaning(
        "The domain accepts mail; the mailbox itself was not checked.",
        "Send, and monitor bounces.",
    ),
}
# Documented now, so that clients can handle them when opt-in mailbox checks arrive.
RESERVED_REASONS = frozenset(
    {
        *("mailbox_not_found", "mailbox_disabled", "mailbox_full", "accept_all"),
        *("mailbox_accepted", "smtp_unreachable", "smtp_timeout", "greylisted"),
        *("server_temporary_error", "server_refused_us"),
    }
)


def reasons_by_verdict() -> list[tuple[str, list[tuple[str, Meaning, bool]]]]:
    """Return each verdict with its reasons: code, meaning, and whether it is in use today."""
    return [
        (
            verdict.value,
            [(code, MEANINGS[code], code not in RESERVED_REASONS) for code in reasons],
        )
        for verdict, reasons in REASONS.items()
    ]
