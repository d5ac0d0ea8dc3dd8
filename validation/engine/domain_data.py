"""What is known about domains and mailboxes without asking anybody: the files of `data/`.

Each is read when it is first needed, and says where it comes from. Staff may add domains of their
own; those come in with each question, for they change while a worker runs.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

DATA = Path(__file__).parent / "data"
_WORD = re.compile(r"[-_.]+")


@dataclass(frozen=True)
class DataFile:
    source: str
    version: str
    date: str
    licence: str
    # In the order of the file.
    entries: tuple[str, ...]


class StaffDomains(NamedTuple):
    """Domains that staff listed by hand; they count before the lists, with all below them."""

    allowed: frozenset[str] = frozenset()
    denied: frozenset[str] = frozenset()


NO_STAFF_DOMAINS = StaffDomains()


def read_data_file(name: str, folder: Path = DATA) -> DataFile:
    lines = (folder / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    comments = (line.removeprefix("# ").partition(": ") for line in lines if line.startswith("#"))
    facts = {key: value for key, _, value in comments if value}
    entries = tuple(line for line in lines if line and not line.startswith("#"))
    return DataFile(facts["source"], facts["version"], facts["date"], facts["licence"], entries)


def _set_of(name: str) -> "cached_property[frozenset[str]]":
    return cached_property(lambda _: frozenset(read_data_file(name).entries))


class DomainData:
    relays = _set_of("relays")
    reserved = _set_of("reserved_domains")
    role_accounts = _set_of("role_accounts")
    no_reply = _set_of("no_reply")
    not_typos = _set_of("not_typos")
    # Rules as on publicsuffix.org: `co.uk`, `*.ck`, `!www.ck`.
    public_suffixes = _set_of("public_suffixes")

    @cached_property
    def _disposable_file(self) -> DataFile:
        return read_data_file("disposable")

    @cached_property
    def versions(self) -> dict[str, str]:
        return {"disposable": self._disposable_file.date}

    @cached_property
    def disposable(self) -> frozenset[str]:
        return frozenset(self._disposable_file.entries)

    @cached_property
    def free_providers(self) -> frozenset[str]:
        listed = frozenset(read_data_file("free_providers").entries)
        return listed - self.disposable - self.relays - self.reserved

    @cached_property
    def typo_targets(self) -> tuple[str, ...]:
        return read_data_file("typo_targets").entries

    @cached_property
    def _top_level_names(self) -> frozenset[str]:
        return frozenset(rule.rpartition(".")[2] for rule in self.public_suffixes)

    def load(self) -> None:
        """Reads what checks need, that the first one does not wait for it."""
        for name, kept in vars(type(self)).items():
            if isinstance(kept, cached_property):
                getattr(self, name)

    def registrable(self, ascii_domain: str) -> str | None:
        """The part that somebody registered; None for a public suffix such as co.uk itself."""
        rules, below = self.public_suffixes, None
        for domain in and_parents(ascii_domain):
            parent = domain.partition(".")[2]
            if f"!{domain}" in rules:
                return domain
            if domain in rules or f"*.{parent}" in rules or not parent:
                return below
            below = domain
        return None

    def owner_of(self, ascii_domain: str) -> str:
        """Whom the domain belongs to, as far as names tell."""
        return self.registrable(ascii_domain) or ascii_domain

    def is_top_level_name(self, name: str) -> bool:
        return name in self._top_level_names

    def is_disposable(self, ascii_domain: str, staff: StaffDomains = NO_STAFF_DOMAINS) -> bool:
        for domain in and_parents(ascii_domain):
            if domain in staff.allowed:
                return False
            if domain in staff.denied:
                return True
        return any(domain in self.disposable for domain in and_parents(ascii_domain))

    def is_relay(self, ascii_domain: str) -> bool:
        return any(domain in self.relays for domain in and_parents(ascii_domain))

    def is_reserved(self, ascii_domain: str) -> bool:
        return any(domain in self.reserved for domain in and_parents(ascii_domain))

    def is_well_known(self, ascii_domain: str) -> bool:
        known = (self.free_providers, self.typo_targets, self.relays)
        return any(ascii_domain in domains for domains in known)

    def is_role_account(self, mailbox: str) -> bool:
        """`mailbox`: the local part in lower case, without its tag."""
        return mailbox in self.role_accounts

    def is_no_reply(self, mailbox: str) -> bool:
        words = [word for word in _WORD.split(mailbox) if word]
        spans = (
            "".join(words[start:end])
            for start in range(len(words))
            for end in range(start + 1, min(start + 4, len(words)) + 1)
        )
        return any(span in self.no_reply for span in spans)


# Read once, whoever needs them.
BUILT_IN_DATA = DomainData()


def and_parents(domain: str) -> Iterator[str]:
    """a.b.example, b.example, example."""
    while domain:
        yield domain
        domain = domain.partition(".")[2]
