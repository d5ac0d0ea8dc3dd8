"""Elements that pages of all packages show. Pure."""

from dataclasses import dataclass


@dataclass(frozen=True)
class PageHead:
    title: str
    intro: str


@dataclass(frozen=True)
class Badge:
    text: str
    # A CSS class of badges.
    tone: str = ""
    icon: str = ""


@dataclass(frozen=True)
class EmptyState:
    """Says why a list is empty, and what will appear in it or what to do."""

    headline: str
    text: str
    # A link to the docs.
    action: str = ""
    url: str = ""
