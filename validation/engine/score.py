"""One number for an address, as a sum of weights: the same for the same facts. Pure."""

from collections.abc import Iterable

from validation.engine.reasons import Verdict

# From where the sum starts: by verdict, and how far the service looked.
BEST = {
    (Verdict.DELIVERABLE, "smtp"): 100,
    (Verdict.DELIVERABLE, "dns"): 85,
    (Verdict.RISKY, "smtp"): 69,
    (Verdict.RISKY, "dns"): 69,
    (Verdict.RISKY, "syntax"): 69,
}
LOWEST = {Verdict.DELIVERABLE: 70, Verdict.RISKY: 10}
# What each fact takes away.
WEIGHTS = {
    "disposable": 59,
    "mixed_script": 49,
    "no_reply": 44,
    "mailbox_full": 39,
    "possible_typo": 34,
    "no_mx_record": 29,
    "accept_all": 19,
    "role_account": 14,
    "smtputf8_required": 9,
    "relay": 5,
    "spf_none": 3,
    "dmarc_none": 2,
}


def score_of(verdict: Verdict, evidence: str, facts: Iterable[str]) -> int | None:
    if verdict == Verdict.UNKNOWN:
        return None
    if verdict == Verdict.UNDELIVERABLE:
        return 0
    score = BEST[verdict, evidence] - sum(WEIGHTS.get(fact, 0) for fact in facts)
    return max(score, LOWEST[verdict])
