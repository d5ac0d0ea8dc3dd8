"""Build new versions of the engine's domain data from the installed packages.

Each update is checked before it replaces a file: one wrong entry would reject every legitimate user
of that domain.
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

from validation.engine.domain_data import DATA_FOLDER, DomainData, read_data_file
from validation.engine.suggest import suggest_domain

_DOMAIN = re.compile(r"(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]")
# An update that shrinks the data below this share of its size is treated as broken.
_MIN_SIZE_RATIO = 0.8


class InvalidUpdate(Exception):
    def __init__(self, name: str, errors: list[str]) -> None:
        super().__init__(f"The update of {name} is invalid: {' '.join(errors)}")


@dataclass(frozen=True)
class Update:
    name: str
    source: str
    version: str
    license: str
    entries: frozenset[str]

    def write(self, today: date, folder: Path = DATA_FOLDER) -> None:
        header = (
            f"# source: {self.source}",
            f"# version: {self.version}",
            f"# date: {today.isoformat()}",
            f"# license: {self.license}",
            "# Written by `manage.py update_domain_data`.",
        )
        lines = "\n".join((*header, *sorted(self.entries)))
        (folder / f"{self.name}.txt").write_text(f"{lines}\n", encoding="utf-8")


def build_disposable(data: DomainData) -> Update:
    blocked = frozenset(disposable_email_domains.blocklist)
    # Typos of well-known providers get a suggestion (did_you_mean) instead of a rejection.
    typos = {domain for domain in blocked if suggest_domain(domain, data, accepts_mail=True)}
    return Update(
        "disposable",
        "disposable-email-domains (PyPI), less typos of famous providers",
        version("disposable-email-domains"),
        "MIT",
        blocked - typos,
    )


def build_public_suffixes() -> Update:
    text = resources.files("publicsuffixlist").joinpath("public_suffix_list.dat").read_text("utf-8")
    rules = (line.split()[0] for line in text.splitlines() if line and not line.startswith("//"))
    return Update(
        "public_suffixes",
        "publicsuffixlist (PyPI), from publicsuffix.org",
        version("publicsuffixlist"),
        "MPL-2.0",
        frozenset(map(_to_ascii, rules)),
    )


def disposable_errors(update: Update, data: DomainData) -> list[str]:
    must_have = frozenset(read_data_file("always_disposable").entries)
    must_not_have = {
        *read_data_file("never_disposable").entries,
        *data.relays,
        *data.typo_targets,
    }
    invalid = {domain for domain in update.entries if not _DOMAIN.fullmatch(domain)}
    suffixes = {
        domain for domain in update.entries - invalid if data.registrable_domain(domain) is None
    }
    return [
        f"It {problem}: {', '.join(sorted(domains)[:10])}."
        for problem, domains in (
            ("is missing domains", must_have - update.entries),
            ("contains domains that aren't disposable", must_not_have & update.entries),
            ("contains invalid domains", invalid),
            ("contains whole public suffixes", suffixes),
        )
        if domains
    ] + _size_errors(update)


def public_suffix_errors(update: Update) -> list[str]:
    missing = {"com", "co.uk", "github.io", "*.ck", "!www.ck", "xn--p1ai"} - update.entries
    return [f"It is missing rules: {', '.join(sorted(missing))}."] * bool(missing) + _size_errors(
        update
    )


def find_updates() -> list[Update]:
    """Return the updates that change a file. Raise InvalidUpdate if a check fails."""
    suffixes = build_public_suffixes()
    _require_valid(suffixes, public_suffix_errors)
    data = DomainData()
    disposable = build_disposable(data)
    _require_valid(disposable, lambda update: disposable_errors(update, data))
    updates = (suffixes, disposable)
    return [update for update in updates if update.entries != _current_entries(update.name)]


def _require_valid(update: Update, check: Callable[[Update], list[str]]) -> None:
    errors = check(update)
    if errors:
        raise InvalidUpdate(update.name, errors)


def _size_errors(update: Update) -> list[str]:
    before, now = len(_current_entries(update.name)), len(update.entries)
    return [f"It has {now:,} entries instead of {before:,}."] * (now < before * _MIN_SIZE_RATIO)


def _current_entries(name: str) -> frozenset[str]:
    try:
        return frozenset(read_data_file(name).entries)
    except FileNotFoundError:
        return frozenset()


def _to_ascii(rule: str) -> str:
    labels = rule.removeprefix("!").split(".")
    ascii_labels = (label if label.isascii() else idna.alabel(label).decode() for label in labels)
    return ("!" if rule.startswith("!") else "") + ".".join(ascii_labels)
