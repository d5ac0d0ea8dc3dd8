"""New versions of the engine's lists, made of the installed packages.

A list is checked before it replaces the old one: one wrong name on it refuses thousands of honest
customers of that domain.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from importlib import resources
from importlib.metadata import version
from pathlib import Path

import disposable_email_domains
import idna

from validation.engine.domain_data import DATA, DomainData, read_data_file
from validation.engine.suggest import meant_domain

_DOMAIN = re.compile(r"(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]")
# A list that shrinks by more than this did not get better, it broke.
_SMALLEST_SHARE = 0.8


class BrokenList(Exception):
    def __init__(self, name: str, faults: list[str]) -> None:
        super().__init__(f"The new list {name} is not taken: {' '.join(faults)}")


@dataclass(frozen=True)
class Update:
    name: str
    source: str
    version: str
    licence: str
    entries: frozenset[str]

    def write(self, today: date, folder: Path = DATA) -> None:
        facts = (
            f"# source: {self.source}",
            f"# version: {self.version}",
            f"# date: {today.isoformat()}",
            f"# licence: {self.licence}",
            "# Written by `manage.py update_domain_data`.",
        )
        lines = "\n".join((*facts, *sorted(self.entries)))
        (folder / f"{self.name}.txt").write_text(f"{lines}\n", encoding="utf-8")


def new_disposable(lists: DomainData) -> Update:
    listed = frozenset(disposable_email_domains.blocklist)
    # Somebody mistyped these: that is told with a correction, not with a refusal.
    typos = {domain for domain in listed if meant_domain(domain, lists, works=True)}
    return Update(
        "disposable",
        "disposable-email-domains (PyPI), less typos of famous providers",
        version("disposable-email-domains"),
        "MIT",
        listed - typos,
    )


def new_public_suffixes() -> Update:
    text = resources.files("publicsuffixlist").joinpath("public_suffix_list.dat").read_text("utf-8")
    rules = (line.split()[0] for line in text.splitlines() if line and not line.startswith("//"))
    return Update(
        "public_suffixes",
        "publicsuffixlist (PyPI), from publicsuffix.org",
        version("publicsuffixlist"),
        "MPL-2.0",
        frozenset(map(_in_ascii, rules)),
    )


def faults_of_disposable(update: Update, lists: DomainData) -> list[str]:
    must_have = frozenset(read_data_file("always_disposable").entries)
    must_not_have = {
        *read_data_file("never_disposable").entries,
        *lists.relays,
        *lists.typo_targets,
    }
    odd = {one for one in update.entries if not _DOMAIN.fullmatch(one)}
    suffixes = {one for one in update.entries - odd if lists.registrable(one) is None}
    return [
        f"It {what}: {', '.join(sorted(names)[:10])}."
        for what, names in (
            ("lacks", must_have - update.entries),
            ("has what is no throw-away domain", must_not_have & update.entries),
            ("has what is no domain", odd),
            ("has whole public suffixes", suffixes),
        )
        if names
    ] + _shrunk(update)


def faults_of_suffixes(update: Update) -> list[str]:
    missing = {"com", "co.uk", "github.io", "*.ck", "!www.ck", "xn--p1ai"} - update.entries
    return [f"It lacks: {', '.join(sorted(missing))}."] * bool(missing) + _shrunk(update)


def checked_updates() -> list[Update]:
    """Those that differ from what there is; BrokenList when one of them must not be taken."""
    suffixes = new_public_suffixes()
    _refuse_broken(suffixes, faults_of_suffixes)
    lists = DomainData()
    disposable = new_disposable(lists)
    _refuse_broken(disposable, lambda update: faults_of_disposable(update, lists))
    return [one for one in (suffixes, disposable) if one.entries != _current(one.name)]


def _refuse_broken(update: Update, faults_of: Callable[[Update], list[str]]) -> None:
    faults = faults_of(update)
    if faults:
        raise BrokenList(update.name, faults)


def _shrunk(update: Update) -> list[str]:
    before, now = len(_current(update.name)), len(update.entries)
    return [f"It has {now:,} entries instead of {before:,}."] * (now < before * _SMALLEST_SHARE)


def _current(name: str) -> frozenset[str]:
    try:
        return frozenset(read_data_file(name).entries)
    except FileNotFoundError:
        return frozenset()


def _in_ascii(rule: str) -> str:
    labels = rule.removeprefix("!").split(".")
    ascii_labels = (label if label.isascii() else idna.alabel(label).decode() for label in labels)
    return ("!" if rule.startswith("!") else "") + ".".join(ascii_labels)
