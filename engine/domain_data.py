import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NamedTuple

from engine.lookalikes import find_shape
from engine.typo_index import TypoIndex, name_of

DATA_FOLDER = Path(__file__).parent / "data"
# What DomainData reads, and releases of the domain data replace.
DATA_FILES = (
    *("disposable", "disposable_voted", "disposable_hosts", "disposable_patterns"),
    *("never_disposable", "free_providers", "relays", "reserved_domains", "role_accounts"),
    *("no_reply", "placeholders", "typo_targets", "not_typos", "known_typos"),
    "famous_domains",
    *("parking_hosts", "public_suffixes"),
)
_MIN_ROLE_WORD, _MIN_PLACEHOLDER_WORD, _MAX_NO_REPLY_WORDS = 3, 2, 4
_MIN_FAMOUS_NAME = 4
_SEPARATORS = re.compile(r"[-_.]+")
# As in info2 and sales-emea, but hr2 may be initials.
_BRANCH = re.compile(
    r"(.{4,}?)(?:[-_.]?0?[1-9]|[-_.](?:amer|anz|apac|asia|benelux|dach|emea|eu|europe|latam|nordics"
    r"|au|at|be|ca|ch|de|es|fr|ie|in|it|nl|nz|uk|us|usa))"
)
DisposableBy = Literal["domain", "mx"]


@dataclass(frozen=True)
class DataFile:
    source: str
    version: str
    date: str
    license: str
    entries: tuple[str, ...]


class StaffDomains(NamedTuple):
    """Hold what staff listed, with subdomains. Domains override the files, hosts add to them."""

    allowed: frozenset[str] = frozenset()
    denied: frozenset[str] = frozenset()
    disposable_hosts: frozenset[str] = frozenset()

    def are_disposable(self, ascii_domain: str) -> bool | None:
        if not self.allowed and not self.denied:
            return None
        for domain in with_parents(ascii_domain):
            if domain in self.allowed:
                return False
            if domain in self.denied:
                return True
        return None


NO_STAFF_DOMAINS = StaffDomains()


def read_data_file(name: str, folder: Path = DATA_FOLDER) -> DataFile:
    return parse_data_file((folder / f"{name}.txt").read_text(encoding="utf-8"))


def parse_data_file(text: str) -> DataFile:
    lines = text.splitlines()
    comments = (line.removeprefix("# ").partition(": ") for line in lines if line.startswith("#"))
    facts = {key: value for key, _, value in comments if value}
    entries = tuple(line for line in lines if line and not line.startswith("#"))
    return DataFile(facts["source"], facts["version"], facts["date"], facts["license"], entries)


def _load_set(name: str) -> "cached_property[frozenset[str]]":
    return cached_property(lambda data: frozenset(data.read(name).entries))


class DomainData:
    def __init__(self, texts: Mapping[str, str] = MappingProxyType({})) -> None:
        """Use these texts instead of the files with their names."""
        self._texts = texts

    def read(self, name: str) -> DataFile:
        text = self._texts.get(name)
        return read_data_file(name) if text is None else parse_data_file(text)

    def replace(self, texts: Mapping[str, str]) -> None:
        """Use other texts from now on, at once and in all threads."""
        data = DomainData(texts)
        data.load()
        self.__dict__ = data.__dict__

    never_disposable = _load_set("never_disposable")
    relays = _load_set("relays")
    reserved = _load_set("reserved_domains")
    role_accounts = _load_set("role_accounts")
    no_reply = _load_set("no_reply")
    placeholders = _load_set("placeholders")
    not_typos = _load_set("not_typos")
    disposable_hosts = _load_set("disposable_hosts")
    parking_hosts = _load_set("parking_hosts")
    # As in `co.uk`, `*.ck`, `!www.ck`.
    public_suffixes = _load_set("public_suffixes")

    @cached_property
    def _disposable_files(self) -> tuple[DataFile, ...]:
        return self.read("disposable"), self.read("disposable_voted")

    @cached_property
    def versions(self) -> dict[str, str]:
        return {"disposable": max(file.date for file in self._disposable_files)}

    @cached_property
    def generation(self) -> object:
        """Return another object after each replacement, for the keys of caches."""
        return object()

    @property
    def version(self) -> str:
        """Return the date of the newest list of disposable domains."""
        return self.versions["disposable"]

    @cached_property
    def disposable(self) -> frozenset[str]:
        return frozenset().union(*(file.entries for file in self._disposable_files))

    @cached_property
    def disposable_names(self) -> re.Pattern[str]:
        """Match the names of generators, which register thousands."""
        return re.compile("|".join(self.read("disposable_patterns").entries))

    @cached_property
    def free_providers(self) -> frozenset[str]:
        entries = frozenset(self.read("free_providers").entries)
        return entries - self.disposable - self.relays - self.reserved

    @cached_property
    def typo_targets(self) -> tuple[str, ...]:
        return self.read("typo_targets").entries

    @cached_property
    def typo_index(self) -> TypoIndex:
        return TypoIndex(self.typo_targets)

    @cached_property
    def _famous_by_shape(self) -> dict[str, str]:
        famous = (*self.read("famous_domains").entries, *self.typo_targets)
        # The best known wins. Short names look like many others.
        return {
            find_shape(domain): domain
            for domain in reversed(famous)
            if len(name_of(domain)) >= _MIN_FAMOUS_NAME
        }

    @cached_property
    def known_typos(self) -> dict[str, str]:
        return dict(line.split() for line in self.read("known_typos").entries)

    @cached_property
    def _well_known(self) -> frozenset[str]:
        return self.free_providers | self.relays | frozenset(self.typo_targets)

    @cached_property
    def _well_known_names(self) -> Counter[str]:
        return Counter(name_of(domain) for domain in self._well_known)

    @cached_property
    def _top_level_domains(self) -> frozenset[str]:
        return frozenset(rule.rpartition(".")[2] for rule in self.public_suffixes)

    def load(self) -> None:
        for name, attribute in vars(type(self)).items():
            if isinstance(attribute, cached_property):
                getattr(self, name)

    def registrable_domain(self, ascii_domain: str) -> str | None:
        """Return the suffix with one more label, or None for a suffix."""
        rules, below = self.public_suffixes, None
        for domain in with_parents(ascii_domain):
            parent = domain.partition(".")[2]
            if f"!{domain}" in rules:
                return domain
            if domain in rules or f"*.{parent}" in rules or not parent:
                return below
            below = domain
        return None

    def find_owner(self, ascii_domain: str) -> str:
        return self.registrable_domain(ascii_domain) or ascii_domain

    def is_public_suffix(self, name: str) -> bool:
        """Return whether anyone can register a domain below, as in co.uk."""
        parent = name.partition(".")[2]
        rules = self.public_suffixes
        return name in rules or f"*.{parent}" in rules or name in self._top_level_domains

    def has_top_level_domain(self, domain: str) -> bool:
        return domain.rpartition(".")[2] in self._top_level_domains

    def is_disposable(self, ascii_domain: str, staff: StaffDomains = NO_STAFF_DOMAINS) -> bool:
        return self.disposable_by(ascii_domain, (), staff) is not None

    def disposable_by(
        self, ascii_domain: str, mail_hosts: Iterable[str], staff: StaffDomains = NO_STAFF_DOMAINS
    ) -> DisposableBy | None:
        decided = staff.are_disposable(ascii_domain)
        if decided is not None:
            return "domain" if decided else None
        if is_below(ascii_domain, self.disposable) or self.disposable_names.fullmatch(ascii_domain):
            return "domain"
        for host in mail_hosts:
            if is_below(host, self.disposable_hosts) or is_below(host, staff.disposable_hosts):
                is_protected = is_below(ascii_domain, self.never_disposable)
                return None if is_protected or self.is_well_known(ascii_domain) else "mx"
        return None

    def find_lookalike(self, domain: str) -> str | None:
        """Return the famous domain whose letters look like those of this one, in Unicode."""
        famous = self._famous_by_shape.get(find_shape(domain))
        is_known = domain == famous or self.is_well_known(domain) or domain in self.not_typos
        return None if is_known else famous

    def is_parked(self, ascii_domain: str, mail_hosts: Sequence[str]) -> bool:
        """Return whether a parking service receives the mail of another owner's domain."""
        if not mail_hosts or not all(is_below(host, self.parking_hosts) for host in mail_hosts):
            return False
        owner = self.find_owner(ascii_domain)
        return all(self.find_owner(host) != owner for host in mail_hosts)

    def is_relay(self, ascii_domain: str) -> bool:
        return is_below(ascii_domain, self.relays)

    def is_reserved(self, ascii_domain: str) -> bool:
        return is_below(ascii_domain, self.reserved)

    def is_well_known(self, ascii_domain: str) -> bool:
        return ascii_domain in self._well_known

    def is_only_well_known(self, ascii_domain: str) -> bool:
        """Return whether no other well-known domain has this name, as yahoo.fr does."""
        return self._well_known_names[name_of(ascii_domain)] == 1

    def is_role_account(self, mailbox: str) -> bool:
        """Return whether a mailbox, in lower case without its tag, is for a role.

        A branch's number or region doesn't matter.
        """
        branch = _BRANCH.fullmatch(mailbox)
        names = (mailbox,) if branch is None else (mailbox, branch[1])
        return any(_is_listed(name, self.role_accounts, _MIN_ROLE_WORD) for name in names)

    def is_placeholder(self, mailbox: str) -> bool:
        """Return whether it's typed where a form requires an address, as noemail and asdf are."""
        return _is_listed(mailbox, self.placeholders, _MIN_PLACEHOLDER_WORD)

    def is_no_reply(self, mailbox: str) -> bool:
        no_reply = self.no_reply
        if mailbox.isalnum():
            return mailbox in no_reply
        words = [word for word in _SEPARATORS.split(mailbox) if word]
        for start in range(len(words)):
            span = ""
            for word in words[start : start + _MAX_NO_REPLY_WORDS]:
                span += word
                if span in no_reply:
                    return True
        return False


DOMAIN_DATA = DomainData()


def with_parents(domain: str) -> Iterator[str]:
    while domain:
        yield domain
        domain = domain.partition(".")[2]


def _is_listed(mailbox: str, names: frozenset[str], min_word: int) -> bool:
    """Ignore separators, except after initials: `p.ress` is a person."""
    if mailbox in names:
        return True
    if mailbox.isalnum():
        return False
    phrase = mailbox.replace(".", "").replace("-", "").replace("_", "")
    return phrase in names and min(map(len, _SEPARATORS.split(mailbox))) >= min_word


def is_below(name: str, names: frozenset[str]) -> bool:
    """Return whether a name or a parent is listed."""
    while name:
        if name in names:
            return True
        name = name.partition(".")[2]
    return False
