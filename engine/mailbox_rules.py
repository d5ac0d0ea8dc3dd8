"""Find mailboxes that a provider's published rules exclude, at its own domains."""

import re
from typing import NamedTuple

from engine.domain_data import read_data_file

IMPOSSIBLE, UNLIKELY = "impossible_mailbox", "unlikely_mailbox"


class _Rule(NamedTuple):
    possible: re.Pattern[str]
    shortest: int
    longest: int


def _read_rules() -> dict[str, _Rule]:
    rules: dict[str, _Rule] = {}
    for line in read_data_file("mailbox_rules").entries:
        characters, shortest, longest, *domains = line.split()
        possible = re.compile(f"[{characters}]+")
        low = 0 if shortest == "*" else int(shortest)
        # No local part is longer (RFC 5321, 4.5.3.1.1).
        rule = _Rule(possible, low, 64 if longest == "*" else int(longest))
        rules |= dict.fromkeys(domains, rule)
    return rules


_RULES = _read_rules()


def judge_mailbox(mailbox: str, canonical: str, ascii_domain: str) -> str | None:
    """Return a reason, or None. Both names are in lower case. `mailbox` has no plus tag.

    `canonical` is without the dots that the provider ignores. Earlier accounts may be shorter than
    what the provider allows now, so a short name is only unlikely.
    """
    rule = _RULES.get(ascii_domain)
    if rule is None:
        return None
    length = min(len(mailbox), len(canonical))
    if not rule.possible.fullmatch(mailbox) or length > rule.longest:
        return IMPOSSIBLE
    return UNLIKELY if length < rule.shortest else None
