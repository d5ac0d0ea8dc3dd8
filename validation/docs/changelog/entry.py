"""An entry of the changelog for customers."""

from dataclasses import dataclass
from datetime import date

from validation.docs.pages import PAGES, Page

# Docs pages by the name of their URL.
DOCS = {page.name: page for page in PAGES}


@dataclass(frozen=True)
class Entry:
    # The anchor on the page, and part of the id in the feed. Never changes.
    id: str
    day: date
    # API, Dashboard, or Docs.
    area: str
    title: str
    # Text between `backticks` is shown as code.
    text: str
    # The docs page with the details, if there is one.
    page: Page | None = None
