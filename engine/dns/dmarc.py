"""Find the DMARC policy that applies to a domain (RFC 9989)."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

_RECORD = re.compile(r"\s*[vV]\s*=\s*DMARC1\s*(;.*)?", re.DOTALL)
_POLICIES = ("none", "quarantine", "reject")
# RFC 9989, 4.10: parents with more labels are skipped.
_MAX_PARENT_LABELS = 7


class DmarcRecord(NamedTuple):
    # For the domain, for names below it, and for nonexistent ones.
    own: str
    subdomains: str
    missing_subdomains: str
    # "y": a public suffix. "n": an organization's domain. "u": unknown.
    psd: str

    @property
    def ends_tree_walk(self) -> bool:
        return self.psd in {"n", "y"}

    def policy_below(self, *, exists: bool) -> str:
        return self.subdomains if exists else self.missing_subdomains


def parse_dmarc(texts: Iterable[str]) -> DmarcRecord | None:
    """Parse the record. Several are all discarded (RFC 9989, 4.10)."""
    records = [text for text in texts if _RECORD.fullmatch(text.strip())]
    if len(records) != 1:
        return None
    pairs = (tag.partition("=") for tag in records[0].split(";"))
    tags = {name.strip().lower(): value.strip().lower() for name, _, value in pairs}
    own = tags.get("p", "none")
    subdomains = tags.get("sp", own)
    policies = [own, subdomains, tags.get("np", subdomains)]
    # RFC 9989, 4.10.1: one invalid policy invalidates the others.
    if not set(policies) <= set(_POLICIES):
        policies = ["none"] * 3
    if tags.get("t") == "y":
        # RFC 9989, 4.7: in test mode, the next lower policy applies.
        policies = [_POLICIES[max(0, _POLICIES.index(policy) - 1)] for policy in policies]
    return DmarcRecord(policies[0], policies[1], policies[2], tags.get("psd", "u"))


def names_in_tree_walk(domain: str) -> list[str]:
    labels = domain.split(".")
    parents = labels[max(1, len(labels) - _MAX_PARENT_LABELS) :]
    return [domain, *(".".join(parents[index:]) for index in range(len(parents)))]


def find_inherited_policy(parents: Sequence[tuple[str, DmarcRecord]], *, exists: bool) -> str:
    """Return the policy that a domain without a record inherits.

    RFC 9989, 4.10.2: the organizational domain is one with `psd=n`, else the one below a public
    suffix with `psd=y`, else the shortest. Without a record, its public suffix decides.
    """
    below: tuple[str, DmarcRecord] | None = None
    for name, record in parents:
        if record.psd == "n":
            return record.policy_below(exists=exists)
        if record.psd == "y":
            is_organization = below is not None and below[0].partition(".")[2] == name
            chosen = below[1] if below is not None and is_organization else record
            return chosen.policy_below(exists=exists)
        below = (name, record)
    return below[1].policy_below(exists=exists) if below is not None else "none"
