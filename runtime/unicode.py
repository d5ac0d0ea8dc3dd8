import re
import unicodedata

from django.core.exceptions import ValidationError

# Control, format, surrogate and private-use characters, and separators.
REFUSED_CATEGORIES = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
# Without width, or reordering their neighbors.
_INVISIBLE = (
    "\u00ad\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e"
    "\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\u206a\u206b\u206c\u206d\u206e\u206f"
    "\ufeff\ufff9\ufffa\ufffb" + "".join(map(chr, range(0xE0001, 0xE0080)))
)
INVISIBLE = re.compile(f"[{_INVISIBLE}]")
INVISIBLE_IN_BYTES = re.compile(b"|".join(character.encode() for character in _INVISIBLE))
_UNCHANGED_OR_INVISIBLE = re.compile(f"<textarea\\b[^<]*</textarea>|<[^>]*>|[{_INVISIBLE}]")


def validate_line(value: str) -> None:
    for character in value:
        if unicodedata.category(character) in REFUSED_CATEGORIES:
            raise ValidationError(
                f"U+{ord(character):04X} can't be displayed. Remove it and try again.",
                code="unprintable",
            )


def show_invisible(text: str) -> str:
    return INVISIBLE.sub(_code_point, text)


def show_invisible_in_html(html: str) -> str:
    """Leave text areas unchanged: a field must send its value."""
    return _UNCHANGED_OR_INVISIBLE.sub(
        lambda match: match[0] if match[0].startswith("<") else _code_point(match), html
    )


def _code_point(match: re.Match[str]) -> str:
    return f"[U+{ord(match[0]):04X}]"
