"""Tables of people and their cities in languages that have encodings of their own."""

import csv
import unicodedata
from collections import defaultdict
from pathlib import Path

_TONES = "\u0300\u0301\u0303\u0309\u0323"
NAMES: dict[str, list[tuple[str, str]]] = defaultdict(list)
with Path(__file__).with_name("names.tsv").open(encoding="utf-8") as _file:
    for _language, _name, _city in csv.reader(_file, delimiter="\t"):
        NAMES[_language].append((_name, _city))

# Each with its language.
ENCODINGS = [
    *((encoding, "polish") for encoding in ("cp1250", "iso8859-2", "cp852")),
    *((encoding, "czech") for encoding in ("cp1250", "iso8859-2")),
    *((encoding, "hungarian") for encoding in ("cp1250", "iso8859-2")),
    *((encoding, "russian") for encoding in ("cp1251", "koi8-r", "iso8859-5", "cp866")),
    *((encoding, "ukrainian") for encoding in ("cp1251", "koi8-u", "mac-cyrillic")),
    *((encoding, "greek") for encoding in ("cp1253", "iso8859-7")),
    *((encoding, "turkish") for encoding in ("cp1254", "iso8859-9")),
    *((encoding, "hebrew") for encoding in ("cp1255", "iso8859-8")),
    *((encoding, "arabic") for encoding in ("cp1256", "iso8859-6")),
    *((encoding, "lithuanian") for encoding in ("cp1257", "iso8859-13")),
    *(("cp1257", "latvian"), ("cp1258", "vietnamese"), ("cp874", "thai")),
    *((encoding, "japanese") for encoding in ("shift_jis", "cp932", "euc_jp")),
    *((encoding, "chinese") for encoding in ("gb2312", "gbk", "gb18030")),
    *(("big5", "taiwanese"), ("euc_kr", "korean"), ("cp949", "korean")),
    *((encoding, "french") for encoding in ("cp1252", "iso8859-15", "mac-roman", "cp850")),
    *((encoding, "german") for encoding in ("cp1252", "iso8859-1", "mac-roman", "cp437")),
    *((encoding, "spanish") for encoding in ("cp1252", "mac-roman", "cp850")),
]


def build_text(language: str, rows: slice = slice(None)) -> str:
    names = enumerate(NAMES[language][rows])
    lines = [f"{name};{city};customer{number}@shop.example" for number, (name, city) in names]
    return "\n".join(["name;city;email", *lines, ""])


def encode(text: str, encoding: str) -> bytes:
    if encoding == "cp1258":
        # Its tones are characters of their own.
        text = "".join(map(_detach_tone, text))
    return text.encode(encoding)


def _detach_tone(letter: str) -> str:
    parts = unicodedata.normalize("NFD", letter)
    base = unicodedata.normalize("NFC", "".join(part for part in parts if part not in _TONES))
    return base + "".join(part for part in parts if part in _TONES)


def is_same(text: str, other: str) -> bool:
    return unicodedata.normalize("NFC", text) == unicodedata.normalize("NFC", other)
