from engine import MEANINGS, VERDICT_BY_REASON, Verdict
from lists.models import AddressList

_ADVICE_BY_VERDICT = {
    Verdict.DELIVERABLE: "Send, and watch for bounces.",
    Verdict.RISKY: "Send to a few of them first, and watch for bounces.",
    Verdict.UNDELIVERABLE: "Remove them. They would bounce.",
    Verdict.UNKNOWN: "Free. If they stay unknown, check them again later.",
}
_ADVICE = {
    "invalid_syntax": "Correct or remove them.",
    "disposable": "Remove them. The mailboxes disappear soon.",
    "parked": "Remove them. Few of these mailboxes are read.",
    "mailbox_full": "Try again in a few days.",
    "possible_typo": "Use the suggestion, or ask through another channel.",
    "mixed_script": "Review them before you send.",
    "role_account": "Keep them for business mail. Leave them out of campaigns.",
    "no_reply": "Remove them. Email to them isn't read.",
    "smtputf8_required": "Send only if your mail server supports SMTPUTF8.",
}


def describe_reasons(address_list: AddressList) -> list[tuple[str, int, str, str]]:
    """Return verdict, count, meaning, and advice of each reason, the most frequent first."""
    rows = []
    for reason, count in address_list.reasons.items():
        verdict = VERDICT_BY_REASON[reason]
        advice = _ADVICE.get(reason, _ADVICE_BY_VERDICT[Verdict(verdict)])
        rows.append((verdict, count, MEANINGS[reason].means, advice))
    return sorted(rows, key=lambda row: row[1], reverse=True)
