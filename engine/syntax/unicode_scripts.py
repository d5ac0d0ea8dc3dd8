"""Detect words that mix scripts, such as paypal with a Cyrillic a."""

import re
import unicodedata

# Their names don't start with the script.
_SCRIPT_BY_FIRST_WORD = {
    **dict.fromkeys(("CJK", "IDEOGRAPHIC", "KANGXI"), "HAN"),
    **dict.fromkeys(("KATAKANA-HIRAGANA", "MODIFIER", "MASCULINE", "FEMININE", "MICRO"), ""),
}
_VARIANT_FORMS = ("FULLWIDTH", "HALFWIDTH", "MATHEMATICAL")
# UTS 39, 5.2 (highly restrictive)
_ALLOWED_COMBINATIONS = (
    frozenset({"LATIN", "HAN", "HIRAGANA", "KATAKANA"}),
    frozenset({"LATIN", "HAN", "BOPOMOFO"}),
    frozenset({"LATIN", "HAN", "HANGUL"}),
)
_WORD_SEPARATORS = re.compile(r"[.+_-]")


def is_mixed_domain(domain: str) -> bool:
    return not domain.isascii() and any(map(_is_mixed, domain.split(".")))


def is_mixed_local_part(local_part: str) -> bool:
    """Allow words in different scripts: jane.иванова."""
    return not local_part.isascii() and any(map(_is_mixed, _WORD_SEPARATORS.split(local_part)))


def _is_mixed(word: str) -> bool:
    scripts = frozenset(filter(None, (_script(letter) for letter in word)))
    return len(scripts) > 1 and not any(scripts <= allowed for allowed in _ALLOWED_COMBINATIONS)


def _script(character: str) -> str:
    if not character.isalpha():
        return ""
    if character.isascii():
        return "LATIN"
    first, *others = unicodedata.name(character, "").split(" ")
    if first in _VARIANT_FORMS and others:
        first = others[0] if others[0] != "BOLD" else "LATIN"
    return _SCRIPT_BY_FIRST_WORD.get(first, first)
