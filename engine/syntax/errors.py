import re
import tomllib
import unicodedata
from collections.abc import Callable
from pathlib import Path

# Decoders write it for bytes that are no text.
REPLACEMENT_CHARACTER = "\ufffd"
SYNTAX_MESSAGES: dict[str, str] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
_LOCAL_PART = re.compile(r'[^\x00-\x20()<>@,;:\\"\[\]\x7f]*')
_DOMAIN = re.compile(r"(?:[a-zA-Z0-9.-]|[^\x00-\x7f])*")
_ANGLE_BRACKETS = re.compile(r"[^<]*<[^<>]*>\s*", re.DOTALL)
_BRACKETS = re.compile(r"\[.*\]")
# RFC 5891, 4.2.3.1: only encodings like xn-- have -- in the third and fourth place.
_MISPLACED_HYPHEN = re.compile(
    r"(?:^|\.)(?:-|(?!xn)[^.]{2}--)|-(?:\.|\Z)", re.IGNORECASE | re.DOTALL
)
_EMOJI = re.compile("[\u2600-\u27bf\u2b50\u2b55\U0001f1e6-\U0001f1ff\U0001f300-\U0001faff]")
# UTS 46 maps these to a period.
_PERIODS = str.maketrans("\u3002\uff0e\uff61", "...")


def find_syntax_error(email: str) -> str:
    for code, has_error in _ADDRESS_ERRORS:
        if has_error(email):
            return code
    local_part, _, domain = email.rpartition("@")
    for code, has_error in _LOCAL_PART_ERRORS:
        if has_error(local_part):
            return code
    for code, has_error in _DOMAIN_ERRORS:
        if has_error(domain.translate(_PERIODS)):
            return code
    return "too_long" if len(email.encode()) > 254 else "invalid_address"


_ADDRESS_ERRORS: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("outer_space", lambda text: text != text.strip()),
    # Controls, format characters, unassigned characters, and line separators.
    (
        "control_character",
        lambda text: any(unicodedata.category(c).startswith(("C", "Zl", "Zp")) for c in text),
    ),
    ("replacement_character", lambda text: REPLACEMENT_CHARACTER in text),
    ("display_name", lambda text: bool(_ANGLE_BRACKETS.fullmatch(text))),
    ("no_at_sign", lambda text: "@" not in text),
    ("quoted_local_part", lambda text: text.startswith('"') and '"@' in text),
    ("several_at_signs", lambda text: text.count("@") > 1),
    ("comment", lambda text: "(" in text and ")" in text),
    ("empty_local_part", lambda text: text.startswith("@")),
    ("empty_domain", lambda text: text.endswith("@")),
    ("domain_literal", lambda text: bool(_BRACKETS.fullmatch(text.rpartition("@")[2]))),
    ("space", lambda text: any(character.isspace() for character in text)),
)
_LOCAL_PART_ERRORS: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("local_part_starts_with_dot", lambda text: text.startswith(".")),
    ("local_part_ends_with_dot", lambda text: text.endswith(".")),
    ("double_dot", lambda text: ".." in text),
    ("local_part_character", lambda text: not _LOCAL_PART.fullmatch(text)),
    ("local_part_too_long", lambda text: len(text.encode()) > 64),
)
_DOMAIN_ERRORS: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("comma_in_domain", lambda text: "," in text),
    ("domain_starts_with_dot", lambda text: text.startswith(".")),
    ("domain_ends_with_dot", lambda text: text.endswith(".")),
    ("double_dot", lambda text: ".." in text),
    ("domain_character", lambda text: not _DOMAIN.fullmatch(text)),
    ("domain_hyphen", lambda text: bool(_MISPLACED_HYPHEN.search(text))),
    ("label_too_long", lambda text: any(len(label) > 63 for label in text.split("."))),
    ("no_top_level_name", lambda text: "." not in text),
    ("domain_emoji", lambda text: bool(_EMOJI.search(text))),
    ("invalid_international_domain", lambda text: "xn--" in text.lower() or not text.isascii()),
)
