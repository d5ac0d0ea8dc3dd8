"""What a name may hold. Pure."""

import unicodedata

from django.core.exceptions import ValidationError

# Control, format (bidi, zero width), surrogate and private-use characters, line and paragraph ends.
_REFUSED = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


def validate_line(value: str) -> None:
    for character in value:
        if unicodedata.category(character) in _REFUSED:
            raise ValidationError(
                f"The character U+{ord(character):04X} cannot be shown. Remove it and try again.",
                code="unprintable",
            )
