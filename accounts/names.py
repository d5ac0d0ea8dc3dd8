"""Names of people, accounts and API keys, which must not look like links in emails."""

import re
import unicodedata
from contextlib import suppress

from django.core.exceptions import ValidationError

from runtime.unicode import validate_line

MAX_LENGTH_IN_EMAIL = 50
# A domain alone is allowed, as in the name “Booking.com”. With a path it is a link.
_LINK = re.compile(
    r"://|\b(?:https?|ftp|mailto|tel):|\bwww\.|@|\w\.\w{2,}[/\\?#:]|\d(?:\.\d+){3}|\[[0-9a-f:]+\]"
)
_IDEOGRAPHIC_DOT = re.compile("[\u3002\uff61]")
_WWW = re.compile(r"\bwww\.", re.IGNORECASE)
_DOT_INSIDE = re.compile(r"(?<=\w)([.\u3002\uff0e\uff61])(?=\w)")
_QUOTES = re.compile('["\u201c\u201d\u201e\u201f]')
_PLAIN_ADDRESS = re.compile(r"(?!www\.)[\w.+-]+@[\w.-]+")


def validate_name(value: str) -> None:
    validate_line(value)
    text = _IDEOGRAPHIC_DOT.sub(".", unicodedata.normalize("NFKC", value)).casefold()
    if _LINK.search(text):
        raise ValidationError(
            "A name can\u2019t hold a link or an email address. Remove it and try again.",
            code="link",
        )


def is_plain_address(text: str) -> bool:
    """Return whether mail clients read it as one address."""
    return len(text) <= MAX_LENGTH_IN_EMAIL and _PLAIN_ADDRESS.fullmatch(text) is not None


def format_for_email(name: str) -> str:
    """Break up links in names that were saved before `validate_name` existed."""
    with suppress(ValidationError):
        validate_name(name)
        return name
    return _without_links(name)


def quoted_name(name: str) -> str:
    """Quote and shorten a name, for emails to outsiders."""
    text = _QUOTES.sub("'", _without_links(name))
    if len(text) > MAX_LENGTH_IN_EMAIL:
        text = text[: MAX_LENGTH_IN_EMAIL - 1].rstrip() + "…"
    return f"\u201c{text}\u201d"


def _without_links(name: str) -> str:
    """Break up links, with visible characters only."""
    text = unicodedata.normalize("NFKC", name)
    text = _WWW.sub("www ", text.replace("://", " ").replace("@", " at "))
    text = _DOT_INSIDE.sub(r"\1 ", text)
    text = "".join(" " if unicodedata.category(char) == "Cc" else char for char in text)
    return " ".join(text.split())
