"""Find out how a text file is encoded."""

import codecs
from collections.abc import Iterator
from typing import BinaryIO

from validation.lists.files.signatures import refuse_binary

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    # Before UTF-16, whose mark it begins with.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Python knows more encodings. These are the ones that spreadsheets and databases write.
_KNOWN = frozenset(
    {
        *("utf-8", "utf-16", "utf-16-le", "utf-16-be", "ascii", "mac-roman"),
        *(f"cp125{digit}" for digit in range(9)),
        *(f"iso8859-{number}" for number in range(1, 17) if number != 12),
        *("cp437", "cp850", "cp852", "cp866", "cp874", "cp932", "cp949", "koi8-r", "koi8-u"),
        *("shift_jis", "euc_jp", "euc_kr", "gb2312", "gbk", "gb18030", "big5"),
    }
)
_UNICODE_DEFAULT, _FALLBACK = "utf-8", "cp1252"
_CHUNK_SIZE = 1 << 20
# In text of Western languages, every second byte of UTF-16 is zero.
_MIN_ZERO_SHARE = 0.3
# A file with few broken characters is still UTF-8.
_MAX_BROKEN_SHARE = 0.05


def find_encoding(stream: BinaryIO, sample: bytes, charset: str) -> tuple[str, bool]:
    """Return the encoding, and whether it is a guess that the customer should check.

    Reads the whole file, because its only accented letter may be in the last row. `charset` is what
    the customer says; a mark at the beginning of the file is more reliable.
    """
    for mark, encoding in _MARKS:
        if sample.startswith(mark):
            return encoding, False
    named = _normalize(charset)
    if named not in (None, _UNICODE_DEFAULT, "ascii"):
        return named, False
    wide = _find_utf16(sample)
    if wide:
        return wide, False
    refuse_binary(sample)
    return _check_utf8(stream)


def _normalize(charset: str) -> str | None:
    try:
        name = codecs.lookup(charset).name
    except (LookupError, ValueError):
        return None
    return name if name in _KNOWN else None


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


def _check_utf8(stream: BinaryIO) -> tuple[str, bool]:
    try:
        for _ in _decode(stream, errors="strict"):
            pass
    except UnicodeDecodeError:
        is_utf8 = _is_mostly_utf8(stream)
        return _UNICODE_DEFAULT if is_utf8 else _FALLBACK, True
    return _UNICODE_DEFAULT, False


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
