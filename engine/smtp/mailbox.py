"""Decide whether a mailbox exists, from the replies to its name and to a control name.

A host that refuses both may have begun to refuse us, and one that accepts both says nothing.
"""

import hmac
from datetime import date
from typing import NamedTuple

from engine.smtp.replies import DEFINITE, ReplyClass

CONTROL_LENGTH = 20
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
# Of classes that say nothing about the mailbox.
_UNKNOWN_REASONS = {
    ReplyClass.GREYLISTED: "greylisted",
    ReplyClass.TEMPORARY: "server_temporary_error",
}


class MailboxAnswer(NamedTuple):
    # A code of engine/verdicts/reasons.py.
    reason: str
    # What the control says of the host: accepted, refused or unclear. None: it wasn't asked.
    control: str | None = None


def needs_control(name: ReplyClass) -> bool:
    return name == ReplyClass.ACCEPTED or name in DEFINITE


def needs_postmaster(name: ReplyClass, control: ReplyClass, *, accepted_recently: bool) -> bool:
    """Return whether both names are refused, at a host that may refuse all."""
    is_refused = name == control == ReplyClass.GONE
    return is_refused and not accepted_recently


def decide(
    name: ReplyClass,
    control: ReplyClass | None = None,
    *,
    accepted_recently: bool = False,
    postmaster: ReplyClass | None = None,
) -> MailboxAnswer:
    """Return the answer. `control` is None if it wasn't asked, or gave no reply.

    `accepted_recently`: whether the host accepted a name of this domain within 30 days.
    """
    match name:
        case ReplyClass.ACCEPTED:
            reasons = {ReplyClass.GONE: "mailbox_accepted", ReplyClass.ACCEPTED: "accept_all"}
            reason = reasons.get(control or ReplyClass.UNCLEAR, "domain_accepts_mail")
        case ReplyClass.GONE:
            is_trusted = control == ReplyClass.ACCEPTED or (
                control == ReplyClass.GONE
                and (accepted_recently or postmaster == ReplyClass.ACCEPTED)
            )
            reason = "mailbox_not_found" if is_trusted else "server_refused_us"
        case ReplyClass.DISABLED | ReplyClass.FULL:
            reason = "server_temporary_error" if control == name else f"mailbox_{name}"
        case _:
            return MailboxAnswer(_UNKNOWN_REASONS.get(name, "server_refused_us"))
    controls = {ReplyClass.ACCEPTED: "accepted", ReplyClass.GONE: "refused"}
    return MailboxAnswer(reason, controls.get(control or ReplyClass.UNCLEAR, "unclear"))


def control_name(ascii_domain: str, key: bytes, day: date) -> str:
    """Return a local part that no mailbox has: the same for a domain during a week."""
    year, week, _ = day.isocalendar()
    digest = hmac.digest(key, f"control:{ascii_domain}:{year}-{week}".encode(), "sha256")
    return "".join(_LETTERS[byte % 26] for byte in digest[:CONTROL_LENGTH])
