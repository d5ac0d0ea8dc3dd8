"""Read the text of a PDF that fpdf2 wrote: through the fonts' tables from glyphs to characters."""

import re
import zlib

_OBJECT = re.compile(rb"(\d+) 0 obj\n(.*?)\nendobj", re.DOTALL)
_STREAM = re.compile(rb"stream\n(.*)\nendstream", re.DOTALL)
_ESCAPES = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}


def page_count(pdf: bytes) -> int:
    return len(re.findall(rb"/Type /Page\n", pdf))


def pdf_text(pdf: bytes) -> str:
    """Return the texts of the first page, one line for each text object."""
    objects = {int(number): body for number, body in _OBJECT.findall(pdf)}
    tables = _glyph_tables(objects)
    lines: list[str] = []
    table: dict[int, str] = {}
    for block in re.findall(rb"BT (.*?) ET", _page_content(objects), re.DOTALL):
        line = ""
        for font, text in re.findall(rb"/F(\d+) [\d.]+ Tf|\(((?:\\.|[^\\)])*)\)", block, re.DOTALL):
            if font:
                table = tables[int(font)]
            else:
                line += _decode(text, table)
        lines.append(line)
    return "\n".join(lines)


def _decode(text: bytes, table: dict[int, str]) -> str:
    raw = re.sub(rb"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), text, flags=re.DOTALL)
    codes = [int.from_bytes(raw[index : index + 2]) for index in range(0, len(raw), 2)]
    return "".join(table.get(code, "") for code in codes)


def _stream(body: bytes) -> bytes:
    found = _STREAM.search(body)
    assert found
    return zlib.decompress(found[1]) if b"/FlateDecode" in body else found[1]


def _page_content(objects: dict[int, bytes]) -> bytes:
    page = next(body for body in objects.values() if b"/Type /Page\n" in body)
    number = re.search(rb"/Contents (\d+) 0 R", page)
    assert number
    return _stream(objects[int(number[1])])


def _glyph_tables(objects: dict[int, bytes]) -> dict[int, dict[int, str]]:
    """Return the characters of each font's glyphs, by the number of the font."""
    resources = next(body for body in objects.values() if b"/Font <<" in body)
    tables = {}
    for number, reference in re.findall(rb"/F(\d+) (\d+) 0 R", resources):
        unicode = re.search(rb"/ToUnicode (\d+) 0 R", objects[int(reference)])
        assert unicode
        pairs = re.findall(rb"<(\w+)> <(\w+)>\n", _stream(objects[int(unicode[1])]))
        tables[int(number)] = {
            int(code, 16): bytes.fromhex(value.decode()).decode("utf-16-be")
            for code, value in pairs
        }
    return tables
