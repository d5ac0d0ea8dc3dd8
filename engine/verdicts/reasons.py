import tomllib
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple


class Verdict(StrEnum):
    DELIVERABLE = "deliverable"
    RISKY = "risky"
    UNDELIVERABLE = "undeliverable"
    UNKNOWN = "unknown"


class Meaning(NamedTuple):
    means: str
    do: str
    reserved: bool = False


_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
REASONS = {
    Verdict(verdict): {reason: Meaning(**texts) for reason, texts in reasons.items()}
    for verdict, reasons in _TABLE.items()
}
MEANINGS = {reason: meaning for reasons in REASONS.values() for reason, meaning in reasons.items()}
VERDICT_BY_REASON = {reason: verdict for verdict, reasons in REASONS.items() for reason in reasons}
PRECEDENCE = tuple(VERDICT_BY_REASON)


def explain_result(reason: str, did_you_mean: str | None) -> Meaning:
    """Return what the reason means for an address: for a typo, name the suggested domain."""
    meaning = MEANINGS[reason]
    if reason == "possible_typo" and did_you_mean:
        domain = did_you_mean.rpartition("@")[2]
        return meaning._replace(means=f"Looks like a typo of {domain}.")
    return meaning
