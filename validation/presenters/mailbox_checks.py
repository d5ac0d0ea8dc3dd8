from collections.abc import Mapping
from typing import Any

_SKIPPED = {
    "decided": "The mail server wasn't asked: the verdict doesn't depend on it.",
    "provider_hides": "The mail server wasn't asked: this provider doesn't say which mailboxes "
    "exist.",
    "opted_out": "The mail server wasn't asked: the domain's postmaster opted out.",
    "harvest_guard": "The mail server wasn't asked: most of the mailboxes of this domain that you "
    "asked for don't exist. Try again in an hour.",
    "cooling_down": "The mail server wasn't asked: it refuses our questions for a while.",
}
_CONTROLS = {
    "accepted": "It also accepts a made-up mailbox.",
    "refused": "It refuses a made-up mailbox.",
    "unclear": "Its reply about a made-up mailbox was unclear.",
}


def describe_mailbox_check(smtp: Mapping[str, Any]) -> list[str]:
    """Return what happened, in sentences."""
    if smtp["state"] == "skipped":
        return [_SKIPPED[smtp["skipped"]]]
    sentences = []
    if smtp["message"]:
        sentences.append(f"{smtp['host']} replied: {smtp['message']}")
    elif smtp["host"]:
        sentences.append(f"{smtp['host']} accepts mail for any mailbox, as we know from before.")
    elif smtp["state"] == "done":
        sentences.append("No mail server replied.")
    if smtp["control"] and smtp["message"]:
        sentences.append(_CONTROLS[smtp["control"]])
    if smtp["state"] == "pending":
        sentences.append("The check isn't finished. Its result will appear under Requests.")
    return sentences
