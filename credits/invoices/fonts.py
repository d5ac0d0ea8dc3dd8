"""Inter has Latin, Greek and Cyrillic. fonts/README.md names the sources."""

import unicodedata
from collections.abc import Iterable
from pathlib import Path

FOLDER = Path(__file__).parent / "fonts"
REGULAR, BOLD = FOLDER / "Inter-Regular.ttf", FOLDER / "Inter-SemiBold.ttf"
UNKNOWN = "?"
# They have no glyph, but shape Persian and Indic words.
JOINERS = "\u200c\u200d"

_Ranges = tuple[tuple[int, int], ...]
SCRIPTS: dict[str, _Ranges] = {
    "Arabic": ((0x600, 0x6FF), (0x750, 0x77F), (0x8A0, 0x8FF), (0xFB50, 0xFDFF), (0xFE70, 0xFEFF)),
    "Armenian": ((0x530, 0x58F), (0xFB13, 0xFB17)),
    "Bengali": ((0x980, 0x9FF),),
    "Devanagari": ((0x900, 0x97F), (0xA8E0, 0xA8FF)),
    "Ethiopic": ((0x1200, 0x139F), (0x2D80, 0x2DDF)),
    "Georgian": ((0x10A0, 0x10FF), (0x1C90, 0x1CBF), (0x2D00, 0x2D2F)),
    "Gujarati": ((0xA80, 0xAFF),),
    "Gurmukhi": ((0xA00, 0xA7F),),
    "Hebrew": ((0x590, 0x5FF), (0xFB1D, 0xFB4F)),
    "Kannada": ((0xC80, 0xCFF),),
    "Khmer": ((0x1780, 0x17FF), (0x19E0, 0x19FF)),
    "Lao": ((0xE80, 0xEFF),),
    "Malayalam": ((0xD00, 0xD7F),),
    "Myanmar": ((0x1000, 0x109F), (0xA9E0, 0xA9FF), (0xAA60, 0xAA7F)),
    "Oriya": ((0xB00, 0xB7F),),
    "Sinhala": ((0xD80, 0xDFF),),
    "Tamil": ((0xB80, 0xBFF),),
    "Telugu": ((0xC00, 0xC7F),),
    "Thai": ((0xE00, 0xE7F),),
    "SC": ((0x2E80, 0x312F), (0x3190, 0x9FFF), (0xF900, 0xFAFF), (0xFF00, 0xFFEF)),
    "KR": ((0x1100, 0x11FF), (0x3130, 0x318F), (0xAC00, 0xD7FF)),
}


def scripts_of(texts: Iterable[str]) -> list[str]:
    codes = {ord(character) for text in texts for character in text}
    return [
        name
        for name, ranges in SCRIPTS.items()
        if any(first <= code <= last for code in codes for first, last in ranges)
    ]


def font_file(script: str) -> Path:
    return FOLDER / f"NotoSans{script}-Regular.ttf"


def printable(text: str) -> str:
    """Return the text on one line, in NFC, with UNKNOWN for control characters."""
    composed = unicodedata.normalize("NFC", " ".join(text.split()))
    return "".join(
        letter if unicodedata.category(letter)[0] != "C" or letter in JOINERS else UNKNOWN
        for letter in composed
    )
