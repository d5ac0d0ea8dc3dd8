"""List what customers notice, newest first, for the changelog page and its feed. Pure.

Developers and operators read CHANGELOG.md. A new entry comes first in the module of its ISO week.
"""

from validation.docs.changelog import week_2026_47, week_2026_48
from validation.docs.changelog.entry import Entry

ENTRIES: tuple[Entry, ...] = (*week_2026_48.ENTRIES, *week_2026_47.ENTRIES)
