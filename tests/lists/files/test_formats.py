"""Which format a file has, and which files are refused."""

import codecs
import io

import pytest

from lists.files.errors import UnreadableFile
from lists.files.formats import FileFormat, FileKind, Hints, detect_format
from tests.lists.files.legacy_texts import ENCODINGS, build_text, encode, is_same
from tests.lists.files.spreadsheets import build_table, build_xlsx, build_zip

TABLE = "name,email\nJané,jane@shop.example\nJoe,joe@shop.example\n"


def compound_file(*streams: str, sector: int = 300) -> bytes:
    """Return a file of the old Office format with its directory in this sector of 512 bytes."""
    header = bytearray(512)
    header[:8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
    header[30] = 9
    header[48:52] = sector.to_bytes(4, "little")
    directory = b"".join(name.encode("utf-16-le").ljust(128, b"\0") for name in streams)
    return bytes(header) + bytes(sector * 512) + directory


def detect(data: bytes, **hints: str) -> FileFormat:
    return detect_format(io.BytesIO(data), Hints(**hints))


def refuse(data: bytes) -> UnreadableFile:
    with pytest.raises(UnreadableFile) as error:
        detect(data)
    return error.value


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (TABLE.encode(), "utf-8"),
        (codecs.BOM_UTF8 + TABLE.encode(), "utf-8-sig"),
        (TABLE.encode("utf-16"), "utf-16"),
        (codecs.BOM_UTF16_BE + TABLE.encode("utf-16-be"), "utf-16"),
        (TABLE.encode("utf-16-le"), "utf-16-le"),
        (TABLE.encode("utf-16-be"), "utf-16-be"),
        (TABLE.encode("utf-32"), "utf-32"),
        (TABLE.encode("cp1252"), "cp1252"),
        (TABLE.encode("ascii", "ignore"), "utf-8"),
        # A few broken characters don't change the encoding of all others.
        (TABLE.encode() * 100 + b"J\xe9,joe@shop.example\n", "utf-8"),
        # The only accented letter comes after the sample, and between two chunks.
        (b"a,b@c.example\n" * 80_000 + "é,x\n".encode(), "utf-8"),
        (b"a,b@c.example\n" * 80_000 + "é,x\n".encode("cp1252"), "cp1252"),
        (b"a" * ((1 << 20) - 1) + "é\n".encode(), "utf-8"),
    ],
)
def test_encoding_is_found(data: bytes, encoding: str) -> None:
    assert detect(data).encoding == encoding


@pytest.mark.parametrize(("encoding", "language"), ENCODINGS)
def test_legacy_encoding_is_found_by_letters_of_its_language(encoding: str, language: str) -> None:
    text = build_text(language)
    # The only letters beyond ASCII may be at the end.
    data = b"name;city;jane@shop.example\n" * 10_000 + encode(text, encoding)
    found = detect(data)
    assert is_same(encode(text, encoding).decode(found.encoding), text)
    assert found.encoding_confidence in {"likely", "unsure"}


@pytest.mark.parametrize(("encoding", "language"), ENCODINGS)
@pytest.mark.parametrize("count", [1, 3, 5])
def test_encoding_of_few_letters_is_never_claimed_wrongly(
    encoding: str, language: str, count: int
) -> None:
    for start in range(0, 30, count):
        text = build_text(language, slice(start, start + count))
        data = encode(text, encoding)
        found = detect(data)
        is_right = is_same(data.decode(found.encoding, errors="replace"), text)
        assert found.encoding_confidence == "unsure" or is_right


@pytest.mark.parametrize(
    ("data", "hints", "confidence"),
    [
        (b"Jane,jane@shop.example\n", {}, "certain"),
        (TABLE.encode(), {}, "certain"),
        (TABLE.encode("utf-16"), {}, "certain"),
        (TABLE.encode("utf-16-le"), {}, "likely"),
        (TABLE.encode("utf-16-le"), {"encoding": "utf-16"}, "likely"),
        (TABLE.encode() * 20 + b"J\xe9,joe@shop.example\n", {}, "likely"),
        (TABLE.encode("cp1252"), {}, "unsure"),
        (TABLE.encode("cp1252"), {"content_type": "text/csv; charset=cp1252"}, "likely"),
        (TABLE.encode("cp1252"), {"encoding": "windows-1252"}, "likely"),
        (bytes(range(128, 256)), {}, "unsure"),
    ],
)
def test_preview_says_how_sure_the_encoding_is(
    data: bytes, hints: dict[str, str], confidence: str
) -> None:
    assert detect(data, **hints).encoding_confidence == confidence


def test_customers_encoding_outweighs_the_content_type_and_the_bytes() -> None:
    data, hints = TABLE.encode(), {"content_type": "text/csv; charset=iso-8859-2"}
    assert detect(data, encoding="Shift_JIS", **hints).encoding == "shift_jis"
    marked = codecs.BOM_UTF8 + data
    assert detect(marked, encoding="Shift_JIS").encoding == "utf-8-sig"
    assert detect(marked, **hints).encoding == "utf-8-sig"


@pytest.mark.parametrize(
    ("content_type", "encoding"),
    [
        ("text/csv; charset=iso-8859-2", "iso8859-2"),
        ('text/csv; charset="Windows-1250"', "cp1250"),
        # Not true, so the bytes decide.
        ("text/csv; charset=utf-8", "cp1252"),
        ("text/csv; charset=us-ascii", "cp1252"),
        # Unknown, or no encoding of text.
        ("text/csv; charset=klingon", "cp1252"),
        ("text/csv; charset=rot13", "cp1252"),
        ("text/csv; charset=unicode_escape", "cp1252"),
        ("text/csv; charset=\x00", "cp1252"),
        ("", "cp1252"),
    ],
)
def test_charset_of_the_content_type_is_used_if_plausible(content_type: str, encoding: str) -> None:
    assert detect(TABLE.encode("cp1252"), content_type=content_type).encoding == encoding


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a,b\nc,d\n", ","),
        ("a;b\nc;d\n", ";"),
        ("a\tb\nc\td\n", "\t"),
        ("a|b\nc|d\n", "|"),
        ("jane@shop.example\njoe@shop.example\n", ""),
        ("jane@shop.example", ""),
        # Decimal commas split each row into as many cells as semicolons do.
        ("jane@shop.example;1,5;2,5\njoe@shop.example;3,5;4,5\n", ";"),
        ("email;note\njane@shop.example;a, b\njoe@shop.example;c, d, e\n", ";"),
        ('name,email\n"Doe; Jane",jane@shop.example\n"Roe; Joe",joe@shop.example\n', ","),
        # Ragged rows, and a title above the table.
        ("Customers\nname,email\nJane,jane@shop.example,x\nJoe,joe@shop.example\n", ","),
        ("jane@shop.example\njoe@shop.example, ann@shop.example\neve@shop.example\n", ""),
        ('"a\nb",c\n"d\ne",f\n', ","),
        ("sep=;\na,b;c\n", ";"),
        ("a,b\rc,d\r", ","),
    ],
)
def test_delimiter_is_found(text: str, delimiter: str) -> None:
    assert detect(text.encode()).delimiter == delimiter


def test_customers_delimiter_is_used() -> None:
    assert detect(TABLE.encode(), delimiter=";").delimiter == ";"
    assert detect(TABLE.encode(), content_type="text/tab-separated-values").delimiter == "\t"


@pytest.mark.parametrize("delimiter", [",,", "a", "1", "\n", '"', "@", ".", "\0"])
def test_impossible_delimiter_is_refused(delimiter: str) -> None:
    with pytest.raises(ValueError, match="delimiter"):
        Hints(delimiter=delimiter)


def test_last_line_of_the_sample_may_be_cut() -> None:
    row = "jane@shop.example,Jane,Berlin\n"
    assert detect((row * 10_000).encode()).delimiter == ","


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "empty_file"),
        (b" \r\n\n", "empty_file"),
        (compound_file("Root Entry", "Workbook"), "old_spreadsheet"),
        (compound_file("Root Entry", "Workbook")[:520], "old_spreadsheet"),
        (compound_file("Root Entry")[:48] + b"\xff" * 464, "old_spreadsheet"),
        (compound_file("Root Entry", "EncryptedPackage"), "protected_spreadsheet"),
        (compound_file("Root Entry", "1Table", "WordDocument"), "office_document"),
        (b"%PDF-1.7\n", "pdf"),
        (b"\x89PNG\r\n\x1a\n", "image"),
        (b"\xff\xd8\xff\xe0", "image"),
        (b"GIF89a", "image"),
        (b"\x1f\x8b\x08", "compressed_file"),
        (b"7z\xbc\xaf\x27\x1c", "compressed_file"),
        (b"SQLite format 3\x00", "database_file"),
        (b"PAR1", "database_file"),
        (b"{\\rtf1 jane@shop.example}", "rich_text"),
        (b"\n<html><table>", "html"),
        (codecs.BOM_UTF8 + b"<!DOCTYPE html>", "html"),
        (b"<table><tr>", "html"),
        (b'<?xml version="1.0"?>', "xml"),
        (b'{"emails": []}', "json"),
        (b'[\n  "jane@shop.example"]', "json"),
        (b"BEGIN:VCARD\r\n", "contacts"),
        (bytes(range(256)) * 100, "binary_file"),
        (bytes(1000), "binary_file"),
        (build_zip({"a.csv": "x"}), "compressed_file"),
        (build_zip({"word/document.xml": "x"}), "office_document"),
        (build_zip({"xl/workbook.bin": b"x"}), "binary_spreadsheet"),
        (
            build_zip({"mimetype": "application/vnd.oasis.opendocument.spreadsheet"}),
            "open_document",
        ),
        (b"PK\x03\x04" + bytes(100), "damaged_spreadsheet"),
        (build_table([["a"]])[:-60], "damaged_spreadsheet"),
    ],
)
def test_other_files_are_refused(data: bytes, code: str) -> None:
    assert refuse(data).code == code


@pytest.mark.parametrize("text", ["<jane@shop.example>", "{jane@shop.example}", "[jane]", "PKjane"])
def test_text_that_only_begins_like_another_format_is_read(text: str) -> None:
    assert detect(text.encode()).kind == FileKind.TEXT


def test_spreadsheet_is_recognized_by_its_content() -> None:
    data = build_xlsx({"One": "", "Secret": "", "Two": ""}, hidden=["Secret"])
    found = detect(data, content_type="text/csv")
    assert found == FileFormat(FileKind.XLSX, sheets=("One", "Two"))
