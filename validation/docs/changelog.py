"""The product's CHANGELOG.md, taken apart for a page: headings, bullets, and nothing else. Pure.

No HTML is made here: the template escapes each text, and shows `code` as such.
"""

from dataclasses import dataclass, field

# What stands under it is for operators: commands, settings, staff pages.
FOR_OPERATORS = "For who runs it, and their staff"


@dataclass
class Change:
    """Of one kind: what was added, changed, removed."""

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
            _take_entry(releases[-1], line)
    return releases


def _take_entry(release: Release, line: str) -> None:
    """A bullet may go on in the next line. What stands under no heading of a kind has none."""
    if not release.changes:
        release.changes.append(Change(""))
    entries = release.changes[-1].entries
    if line.startswith("- ") or not entries:
        entries.append(line.removeprefix("- ").strip())
    else:
        entries[-1] += f" {line.strip()}"
