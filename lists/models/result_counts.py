from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from engine import Verdict
from lists.models.lists import AddressList

# The most frequent ones.
MAX_TYPOS = 100


def can_become_known(result: Mapping[str, Any]) -> bool:
    """Return whether another check may decide: of the DNS, as mail servers are asked once."""
    smtp = result.get("smtp")
    return result["verdict"] == Verdict.UNKNOWN and (not smtp or smtp["skipped"] == "decided")


@dataclass(slots=True)
class ResultCounts:
    """Counts of results to add to those of a list."""

    safe: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    # By the mistyped and the suggested domain.
    typos: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, result: Mapping[str, Any], sign: int = 1) -> None:
        """Add a result, or subtract it with a sign of -1."""
        if result.get("safe_to_send") is True:
            self.safe += sign
        self.reasons[result["reason"]] += sign
        domain, email = result.get("domain"), result.get("did_you_mean") or ""
        suggestion = email.rpartition("@")[2]
        if domain and suggestion not in ("", domain):
            self.typos[domain, suggestion] += sign

    def apply_to(self, locked: AddressList) -> dict[str, Any]:
        """Return the new counts of a list. The caller has locked its row."""
        reasons = Counter(locked.reasons)
        reasons.update(self.reasons)
        typos = Counter(
            {(name, typo["suggestion"]): typo["count"] for name, typo in locked.typos.items()}
        )
        typos.update(self.typos)
        return {
            "safe": max(0, locked.safe + self.safe),
            "reasons": dict(+reasons),
            "typos": {
                domain: {"count": number, "suggestion": suggestion}
                for (domain, suggestion), number in (+typos).most_common(MAX_TYPOS)
            },
        }
