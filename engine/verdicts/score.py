from functools import lru_cache

from engine.verdicts.reasons import Verdict

# Before deductions.
MAX_SCORES = {
    (Verdict.DELIVERABLE, "smtp"): 100,
    (Verdict.DELIVERABLE, "dns"): 85,
    (Verdict.RISKY, "smtp"): 69,
    (Verdict.RISKY, "dns"): 69,
    (Verdict.RISKY, "syntax"): 69,
}
MIN_SCORES = {Verdict.DELIVERABLE: 70, Verdict.RISKY: 10}
# Deductions.
WEIGHTS = {
    "disposable": 59,
    "parked": 54,
    "mixed_script": 49,
    "no_reply": 44,
    "mailbox_full": 39,
    "unlikely_mailbox": 36,
    "possible_typo": 34,
    "no_mx_record": 29,
    "accept_all": 19,
    "role_account": 14,
    "smtputf8_required": 9,
    "relay": 5,
    "spf_none": 3,
    "dmarc_none": 2,
}


@lru_cache(maxsize=512)
def compute_score(verdict: Verdict, evidence: str, facts: tuple[str, ...]) -> int | None:
    if verdict == Verdict.UNKNOWN:
        return None
    if verdict == Verdict.UNDELIVERABLE:
        return 0
    score = MAX_SCORES[verdict, evidence] - sum(WEIGHTS.get(fact, 0) for fact in facts)
    return max(score, MIN_SCORES[verdict])
