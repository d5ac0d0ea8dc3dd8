"""Explain each reason and what to do about it. The docs are generated from this. Pure."""

from typing import NamedTuple

from validation.engine.reasons import REASONS


class Meaning(NamedTuple):
    means: str
    do: str


_ASK_AGAIN = "Ask again {}; it was free. At a form, let the address in."
_ASK_LATER = _ASK_AGAIN.format("later")
MEANINGS = {
    "invalid_syntax": Meaning(
        "It is not written as an address must be; syntax_error says where.",
        "Ask for another one, and show did_you_mean if there is one.",
    ),
    "reserved_domain": Meaning(
        "The domain is set aside for tests, examples or private networks.", "Ask for another one."
    ),
    "domain_not_found": Meaning(
        "The domain does not exist.",
        "Ask for another one, and show did_you_mean if there is one.",
    ),
    "null_mx": Meaning("The domain says that it takes no mail (RFC 7505).", "Ask for another one."),
    "no_mail_server": Meaning(
        "The domain exists, but none of its mail hosts has an address.", "Ask for another one."
    ),
    "unroutable_mail_server": Meaning(
        "Its mail hosts have only addresses that the public internet does not reach.",
        "Ask for another one.",
    ),
    "mailbox_not_found": Meaning("The server says that there is no such mailbox.", "Remove it."),
    "mailbox_disabled": Meaning("The mailbox is switched off.", "Remove it."),
    "disposable": Meaning(
        "The domain gives out throw-away addresses.",
        "Refuse it at sign-up; expect mail to be lost soon.",
    ),
    "accept_all": Meaning(
        "The server takes mail for any mailbox, whether there is one or not.",
        "Send, and watch what bounces.",
    ),
    "mailbox_full": Meaning("The mailbox has no room.", "Try again in some days."),
    "possible_typo": Meaning(
        "The domain is one slip away from a far better known one.",
        "Show did_you_mean; do not block, and do not correct it unasked.",
    ),
    "mixed_script": Meaning(
        "It mixes letters of several scripts in one word, as forgeries do.",
        "Refuse it at sign-up; look at it before you show it to others.",
    ),
    "role_account": Meaning(
        "The mailbox stands for a task, as info or sales do.",
        "Fine for business mail; leave it out of campaigns.",
    ),
    "no_reply": Meaning("It says that nobody reads it.", "Refuse it at sign-up."),
    "smtputf8_required": Meaning(
        "Letters beyond ASCII stand before the @.", "Send only if your mail server has SMTPUTF8."
    ),
    "no_mx_record": Meaning(
        "The domain names no mail host; mail would go to its own address (RFC 5321, 5.1).",
        "Send, and watch what bounces.",
    ),
    "dns_timeout": Meaning("The DNS did not answer in time.", _ASK_AGAIN.format("after 60 s")),
    "dns_failure": Meaning(
        "The DNS cannot tell, contradicts itself, or needs too many queries.",
        _ASK_AGAIN.format("after 300 s"),
    ),
    "smtp_unreachable": Meaning("No mail host could be reached.", _ASK_LATER),
    "smtp_timeout": Meaning("The mail host did not answer in time.", _ASK_LATER),
    "greylisted": Meaning("The mail host puts off whom it does not know.", _ASK_LATER),
    "server_temporary_error": Meaning("The mail host has a trouble of its own.", _ASK_LATER),
    "server_refused_us": Meaning("The mail host does not talk to us.", _ASK_LATER),
    "check_failed": Meaning("Something failed on our side.", _ASK_LATER),
    "mailbox_accepted": Meaning("The mail host takes mail for this mailbox.", "Send."),
    "domain_accepts_mail": Meaning(
        "The domain takes mail; the mailbox itself was not asked.",
        "Send, and watch what bounces.",
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
