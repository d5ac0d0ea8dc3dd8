"""Read customers' entries of CHANGELOG.md: `#### 2026-11-22 API: Title {#id}`, newest first."""

import re
from datetime import date
from functools import cache
from typing import NamedTuple

from django.conf import settings

_ENTRY = re.compile(r"^#### (\S+) (\w+): (.+) \{#(\S+)\}\n((?s:.*?))(?=^#|\Z)", re.MULTILINE)


class ChangelogEntry(NamedTuple):
    # Part of the id in the feed, so it must not change.
    id: str
    day: date
    # API, Dashboard, or Docs.
    area: str
    title: str
    # Markdown.
    text: str


@cache
def read_changelog() -> list[ChangelogEntry]:
    changelog = (settings.BASE_DIR / "CHANGELOG.md").read_text()
    return [
        ChangelogEntry(name, date.fromisoformat(day), area, title, text.strip())
        for day, area, title, name, text in _ENTRY.findall(changelog)
    ]
