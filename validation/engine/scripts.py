"""Letters of several scripts in one word, as in a paypal with a Cyrillic a. Pure."""

import re
import unicodedata

# Where the first word of a letter's Unicode name is not its script.
_SCRIPT_OF = {
    **dict.fromkeys(("CJK", "IDEOGRAPHIC", "KANGXI"), "HAN"),
    **dict.fromkeys(("KATAKANA-HIRAGANA", "MODIFIER", "MASCULINE", "FEMININE", "MICRO"), ""),
}
# Forms of another script's letters.
_FORMS = ("FULLWIDTH", "HALFWIDTH", "MATHEMATICAL")
# UTS 39, 5.2 (highly restrictive): what Chinese, Japanese and Korean are written with.
_TOGETHER = (
    frozenset({"LATIN", "HAN", "HIRAGANA", "KATAKANA"}),
    frozenset({"LATIN", "HAN", "BOPOMOFO"}),
    frozenset({"LATIN", "HAN", "HANGUL"}),
)
_BETWEEN_WORDS = re.compile(r"[.+_-]")


def is_mixed_domain(domain: str) -> bool:
    return not domain.isascii() and any(map(_is_mixed, domain.split(".")))


def is_mixed_local_part(local_part: str) -> bool:
    """Words of different scripts may stand side by side: jane.иванова"""
    return not local_part.isascii() and any(map(_is_mixed, _BETWEEN_WORDS.split(local_part)))


def _is_mixed(word: str) -> bool:
    scripts = frozenset(filter(None, (_script(letter) for letter in word)))
    return len(scripts) > 1 and not any(scripts <= together for together in _TOGETHER)


def _script(character: str) -> str:
    if not character.isalpha():
        return ""
    if character.isascii():
        return "LATIN"
    first, *others = unicodedata.name(character, "").split(" ")
    if first in _FORMS and others:
        first = others[0] if others[0] != "BOLD" else "LATIN"
    return _SCRIPT_OF.get(first, first)
