from dataclasses import dataclass


@dataclass(frozen=True)
class Badge:
    text: str
    tone: str = ""
    icon: str = ""


@dataclass(frozen=True)
class EmptyState:
    headline: str
    text: str
    action: str = ""
    url: str = ""
