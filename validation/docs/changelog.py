"""Parse CHANGELOG.md into headings and bullets for the changelog page. Pure.

It produces no HTML: the template escapes each text and formats `code`.
"""

from dataclasses import dataclass, field

# The page omits entries under this heading: commands, settings and staff pages.
FOR_OPERATORS = "For operators and staff"


@dataclass
class Change:
    """Groups the entries under one heading, such as Added or Removed."""

    title: str
    entries: list[str] = field(default_factory=list)


@dataclass
class Release:
    title: str
    changes: list[Change] = field(default_factory=list)


def read_changelog(text: str) -> list[Release]:
    releases: list[Release] = []
    for line in text.splitlines():
        if line.startswith("## "):
            releases.append(Release(line.removeprefix("## ").strip()))
        elif releases and line.startswith("### "):
            releases[-1].changes.append(Change(line.removeprefix("### ").strip()))
        elif releases and line.strip():
            _add_entry(releases[-1], line)
    return releases


def _add_entry(release: Release, line: str) -> None:
    """Add a bullet or continue the last one. Entries without a heading get an empty title."""
    if not release.changes:
        release.changes.append(Change(""))
    entries = release.changes[-1].entries
    if line.startswith("- ") or not entries:
        entries.append(line.removeprefix("- ").strip())
    else:
        entries[-1] += f" {line.strip()}"
