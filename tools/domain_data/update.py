"""Update the engine's domain data from the installed packages.

    python -m tools.domain_data.update

Each update is checked before it replaces a file: one wrong entry would reject every legitimate user
of that domain.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from importlib import resources
from importlib.metadata import version
from pathlib import Path

import disposable_email_domains
import idna

from engine.domain_data import DATA_FOLDER, DomainData, read_data_file
from tools.domain_data.exclusions import find_excluded, load_protected

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
    # The program that writes the file.
    program: str = "tools.domain_data.update"

    def write(self, today: date, folder: Path = DATA_FOLDER) -> None:
        header = (
            f"# source: {self.source}",
            f"# version: {self.version}",
            f"# date: {today.isoformat()}",
            f"# license: {self.license}",
            f"# Written by `python -m {self.program}`.",
        )
        lines = "\n".join((*header, *sorted(self.entries)))
        (folder / f"{self.name}.txt").write_text(f"{lines}\n", encoding="utf-8")


def build_disposable(data: DomainData) -> Update:
    """Build the curated list from its package, which has several releases per month.

    Names that are new in it are listed immediately. A vote (vote.py) drops those that no
    other list has taken up.
    """
    blocked = frozenset(disposable_email_domains.blocklist)
    names = blocked - _current_entries("disposable_unseconded")
    return Update(
        "disposable",
        "disposable-email-domains (PyPI), less names that no other list takes up",
        version("disposable-email-domains"),
        "MIT",
        names - find_excluded(names, data),
    )


def build_voted(data: DomainData) -> Update:
    """Build the list of voted names: the last vote, less the names excluded since."""
    voted = read_data_file("disposable_voted")
    names = frozenset(voted.entries)
    return Update(
        "disposable_voted",
        voted.source,
        voted.version,
        voted.license,
        names - find_excluded(names, data),
        program="tools.domain_data.vote",
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


def find_invalid(names: Iterable[str]) -> frozenset[str]:
    """Return the names that aren't written as an ASCII domain in lower case."""
    return frozenset(name for name in names if not _DOMAIN.fullmatch(name))


def disposable_errors(update: Update, data: DomainData) -> list[str]:
    """Check the curated list, which has all names of `always_disposable`."""
    missing = frozenset(read_data_file("always_disposable").entries) - update.entries
    errors = [_describe("is missing domains", missing)] if missing else []
    return errors + voted_errors(update, data)


def voted_errors(update: Update, data: DomainData) -> list[str]:
    """Check a list of disposable domains."""
    invalid = find_invalid(update.entries)
    suffixes = {
        domain for domain in update.entries - invalid if data.registrable_domain(domain) is None
    }
    return [
        _describe(problem, domains)
        for problem, domains in (
            ("contains domains that aren't disposable", load_protected(data) & update.entries),
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
    voted = build_voted(data)
    _require_valid(voted, lambda update: voted_errors(update, data))
    updates = (suffixes, disposable, voted)
    return [update for update in updates if update.entries != _current_entries(update.name)]


def main() -> None:
    try:
        updates = find_updates()
    except InvalidUpdate as error:
        raise SystemExit(f"{error} No file was changed.") from error
    for update in updates:
        update.write(datetime.now(UTC).date())
        print(f"{update.name}: {len(update.entries):,} entries from version {update.version}.")
    if not updates:
        print("The domain data already matches the installed packages.")


def _describe(problem: str, domains: Iterable[str]) -> str:
    return f"It {problem}: {', '.join(sorted(domains)[:10])}."


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


if __name__ == "__main__":
    main()
