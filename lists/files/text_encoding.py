import codecs
import re
from collections.abc import Iterator
from contextlib import suppress
from enum import StrEnum
from functools import partial
from operator import itemgetter
from typing import BinaryIO

from charset_normalizer import from_bytes

from lists.files.alphabets import fit
from lists.files.signatures import refuse_binary

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    # These precede UTF-16, whose mark begins with the same bytes.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# What customers can choose, and what is detected: the most common one of a script first.
_OFFERED = {
    "Unicode": ("utf-8", "utf-16-le"),
    "Western European": ("cp1252", "mac-roman", "cp850"),
    "Central European": ("cp1250", "iso8859-2", "cp852"),
    "Cyrillic": ("cp1251", "koi8-u", "iso8859-5", "mac-cyrillic", "cp866"),
    "Greek": ("cp1253", "iso8859-7"),
    "Turkish": ("cp1254",),
    "Hebrew": ("cp1255",),
    "Arabic": ("cp1256", "iso8859-6"),
    "Baltic": ("cp1257",),
    "Vietnamese": ("cp1258",),
    "Thai": ("cp874",),
    "Japanese": ("cp932", "euc_jp"),
    "Simplified Chinese": ("gb18030",),
    "Traditional Chinese": ("cp950",),
    "Korean": ("cp949",),
}
ENCODINGS = {name: f"{script} ({name})" for script, names in _OFFERED.items() for name in names}
_KNOWN = ENCODINGS.keys() | {
    *("utf-16-be", "cp437", "koi8-r", "shift_jis", "euc_kr", "gb2312", "gbk", "big5"),
    *(f"iso8859-{number}" for number in range(1, 17) if number != 12),
}
_WITHOUT_MARK = {"utf-8-sig": "utf-8", "utf-16": "utf-16-le"}
_DETECTED = [name for name in ENCODINGS if not name.startswith("utf")]
_WIDE = frozenset({"cp932", "euc_jp", "gb18030", "cp950", "cp949"})
_UNICODE_DEFAULT, _FALLBACK = "utf-8", "cp1252"
_CHUNK_SIZE = 1 << 20
# In Western languages, half of UTF-16's bytes are zero.
_MIN_ZERO_SHARE = 0.3
# A file with few broken characters is still UTF-8.
_MAX_BROKEN_SHARE = 0.05
# Of lines with bytes beyond ASCII, this much is examined.
_SAMPLE_SIZE = 256 << 10
# None of them is the second byte of a wide character.
_SEPARATORS = re.compile(rb'[\s,;"]+')
# Measured with names of people and cities in 20 languages. A lead is of logarithms.
_CHAOS_WEIGHT, _CLEAR_LEAD, _MIN_BYTES, _MIN_WIDE_BYTES = 5, 5, 4, 80


class Confidence(StrEnum):
    # Proven by the bytes.
    CERTAIN = "certain"
    LIKELY = "likely"
    UNSURE = "unsure"


def find_known_encoding(name: str) -> str:
    """Return Python's name of an encoding, or an empty string if it isn't one of text."""
    with suppress(LookupError, ValueError):
        found = codecs.lookup(name).name
        known = _WITHOUT_MARK.get(found, found)
        return known if known in _KNOWN else ""
    return ""


def find_encoding(
    stream: BinaryIO, sample: bytes, charset: str, chosen: str = ""
) -> tuple[str, Confidence]:
    """Read the whole file: its only accented letter may be at the end. A byte order mark wins."""
    for mark, encoding in _MARKS:
        if sample.startswith(mark):
            return encoding, Confidence.CERTAIN
    charset = find_known_encoding(charset)
    named = find_known_encoding(chosen) or ("" if charset == _UNICODE_DEFAULT else charset)
    if named:
        return named, Confidence.LIKELY
    wide = _find_utf16(sample)
    if wide:
        return wide, Confidence.LIKELY
    refuse_binary(sample)
    try:
        for _ in _decode(stream, errors="strict"):
            pass
    except UnicodeDecodeError:
        if _is_mostly_utf8(stream):
            return _UNICODE_DEFAULT, Confidence.LIKELY
        return _find_legacy_encoding(stream)
    return _UNICODE_DEFAULT, Confidence.CERTAIN


def _find_legacy_encoding(stream: BinaryIO) -> tuple[str, Confidence]:
    """Choose the encoding in which the letters fit a language best."""
    sample = b"\n".join(_find_cells_beyond_ascii(stream))
    size = len(sample) - len(sample.decode("ascii", "ignore"))
    matches = list(from_bytes(sample, cp_isolation=_DETECTED))
    if not matches:
        return _FALLBACK, Confidence.UNSURE
    scored = [(fit(str(match)) - _CHAOS_WEIGHT * match.chaos * size, match) for match in matches]
    (lead, best), *others = sorted(scored, key=itemgetter(0), reverse=True)
    is_clear = all(lead - score > _CLEAR_LEAD for score, _ in others)
    may_be_wide = any(match.encoding in _WIDE for match in matches)
    is_enough = size >= (_MIN_WIDE_BYTES if may_be_wide else _MIN_BYTES)
    confidence = Confidence.LIKELY if is_clear and is_enough else Confidence.UNSURE
    # Several encodings may give the same text. The most common one comes first.
    names = {codecs.lookup(name).name for name in best.could_be_from_charset}
    return next(name for name in _DETECTED if name in names), confidence


def _find_cells_beyond_ascii(stream: BinaryIO) -> dict[bytes, None]:
    """Return each once, as repeated ones are no further evidence."""
    cells: dict[bytes, None] = {}
    size = 0
    stream.seek(0)
    for line in iter(partial(stream.readline, _CHUNK_SIZE), b""):
        if not line.isascii():
            cells |= {cell: None for cell in _SEPARATORS.split(line) if not cell.isascii()}
            size += len(line)
            if size >= _SAMPLE_SIZE:
                break
    return cells


def _find_utf16(sample: bytes) -> str | None:
    if len(sample) < 4:
        return None
    pairs = len(sample) // 2
    even, odd = sample[0::2].count(0) / pairs, sample[1::2].count(0) / pairs
    if odd > _MIN_ZERO_SHARE and even < _MAX_BROKEN_SHARE:
        return "utf-16-le"
    if even > _MIN_ZERO_SHARE and odd < _MAX_BROKEN_SHARE:
        return "utf-16-be"
    return None


def _is_mostly_utf8(stream: BinaryIO) -> bool:
    other = broken = 0
    for text in _decode(stream, errors="replace"):
        broken += text.count("\ufffd")
        other += len(text) - len(text.encode("ascii", "ignore"))
    return broken <= other * _MAX_BROKEN_SHARE


def _decode(stream: BinaryIO, *, errors: str) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder(_UNICODE_DEFAULT)(errors)
    stream.seek(0)
    while chunk := stream.read(_CHUNK_SIZE):
        yield decoder.decode(chunk)
    yield decoder.decode(b"", final=True)
