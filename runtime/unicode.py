"""What a name may hold, and how what nobody can see is shown. Pure."""

import re
import unicodedata

from django.core.exceptions import ValidationError

# Control, format (bidi, zero width), surrogate and private-use characters, line and paragraph ends.
_REFUSED = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
# Of what is stored all the same, such as an address that somebody asked about: what has no width,
# or turns the order of what stands beside it.
_UNSEEN = (
    "\u00ad\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e"
    "\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\u206a\u206b\u206c\u206d\u206e\u206f"
    "\ufeff\ufff9\ufffa\ufffb" + "".join(map(chr, range(0xE0001, 0xE0080)))
)
INVISIBLE = re.compile(f"[{_UNSEEN}]")
INVISIBLE_IN_BYTES = re.compile(b"|".join(one.encode() for one in _UNSEEN))
_IN_HTML = re.compile(f"<[^>]*>|[{_UNSEEN}]")


def validate_line(value: str) -> None:
    for character in value:
        if unicodedata.category(character) in _REFUSED:
            raise ValidationError(
                f"The character U+{ord(character):04X} cannot be shown. Remove it and try again.",
                code="unprintable",
            )


def show_invisible(text: str) -> str:
    """“a[U+202E]b”: it is read as it stands, and as what it is."""
    return INVISIBLE.sub(_named, text)


def show_invisible_in_html(html: str) -> str:
    """What stands in tags is left alone: a form sends back what it was given."""
    return _IN_HTML.sub(lambda found: _named(found) if found[0][0] != "<" else found[0], html)


def _named(found: re.Match[str]) -> str:
    return f"[U+{ord(found[0]):04X}]"
