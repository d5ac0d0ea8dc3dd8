"""Reject invisible characters in names, and make them visible where they are stored."""

import re
import unicodedata

from django.core.exceptions import ValidationError

# Control, format (bidi, zero width), surrogate and private-use characters, line and paragraph
# separators.
_REFUSED_CATEGORIES = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
# Characters without width, and those that reorder their neighbors. Stored text can contain them:
# an email address sent to the API, for example.
_INVISIBLE = (
    "\u00ad\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e"
    "\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\u206a\u206b\u206c\u206d\u206e\u206f"
    "\ufeff\ufff9\ufffa\ufffb" + "".join(map(chr, range(0xE0001, 0xE0080)))
)
INVISIBLE = re.compile(f"[{_INVISIBLE}]")
INVISIBLE_IN_BYTES = re.compile(b"|".join(character.encode() for character in _INVISIBLE))
# A text area's value is between its tags. Django escapes each < in it.
_UNCHANGED_OR_INVISIBLE = re.compile(f"<textarea\\b[^<]*</textarea>|<[^>]*>|[{_INVISIBLE}]")


def validate_line(value: str) -> None:
    """Raise ValidationError if the text has characters that can't be shown on one line."""
    for character in value:
        if unicodedata.category(character) in _REFUSED_CATEGORIES:
            raise ValidationError(
                f"U+{ord(character):04X} can't be displayed. Remove it and try again.",
                code="unprintable",
            )


def show_invisible(text: str) -> str:
    """Replace invisible characters with their code points: “a[U+202E]b”."""
    return INVISIBLE.sub(_code_point, text)


def show_invisible_in_html(html: str) -> str:
    """Replace invisible characters outside tags. A form field must send its value unchanged."""
    return _UNCHANGED_OR_INVISIBLE.sub(
        lambda match: match[0] if match[0].startswith("<") else _code_point(match), html
    )


def _code_point(match: re.Match[str]) -> str:
    return f"[U+{ord(match[0]):04X}]"
