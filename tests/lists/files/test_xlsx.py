"""Spreadsheets, ordinary and hostile ones."""

import io

import pytest

from lists.files.errors import UnreadableFile
from lists.files.formats import detect_format
from lists.files.rows import read_rows
from lists.files.xlsx import MAX_ENTRIES
from tests.lists.files.spreadsheets import build_table, build_xlsx, build_zip, claim_size, rows_xml

ROWS = [["Email", "Name"], ["jane@shop.example", "Jané"]]


def read(data: bytes) -> list[list[str]]:
    stream = io.BytesIO(data)
    return list(read_rows(stream, detect_format(stream)))


def refuse(data: bytes) -> str:
    with pytest.raises(UnreadableFile) as error:
        read(data)
    return error.value.code


def cell(content: str, attributes: str = "") -> bytes:
    return build_xlsx({"Sheet1": f'<row r="1"><c r="A1" {attributes}>{content}</c></row>'})


def text_cell(content: str, prolog: str = "") -> bytes:
    xml = f'<row r="1"><c r="A1" t="inlineStr"><is><t>{content}</t></is></c></row>'
    return build_xlsx({"Sheet1": xml}, prolog=prolog)


@pytest.mark.parametrize(
    ("content", "attributes", "text"),
    [
        ("<v>12</v>", "", "12"),
        ("<v>1.5</v>", "", "1.5"),
        ("<v>4915112345678901</v>", "", "4915112345678901"),
        ("<v>1E+20</v>", "", "100000000000000000000"),
        ("<v>-0.1</v>", "", "-0.1"),
        ("<v>1</v>", 't="b"', "TRUE"),
        ("<v>0</v>", 't="b"', "FALSE"),
        ("<v>45000</v>", 's="1"', "2023-03-15"),
        ("<v>45000.5</v>", 's="2"', "2023-03-15 12:00:00"),
        ("<v>0.5</v>", 's="3"', "12:00:00"),
        # A formula is never computed here.
        ('<f>A2&amp;"@shop.example"</f><v>jane@shop.example</v>', 't="str"', "jane@shop.example"),
        ("<f>HYPERLINK(1)</f>", "", ""),
        ("", "", ""),
        ("<is><r><t>jane@</t></r><r><t>x.example</t></r></is>", 't="inlineStr"', "jane@x.example"),
        ("<is><t>a_x0000_b</t></is>", 't="inlineStr"', "ab"),
        ("<is><t>=1+1</t></is>", 't="inlineStr"', "=1+1"),
    ],
)
def test_cells_become_text(content: str, attributes: str, text: str) -> None:
    assert read(cell(content, attributes)) == ([[text]] if text else [])


def test_empty_rows_and_columns_behind_the_table_are_skipped() -> None:
    rows = rows_xml([[""], ["", ""], *ROWS, ["", ""]])
    assert read(build_xlsx({"Sheet1": rows})) == ROWS


def test_empty_columns_before_the_table_stay() -> None:
    rows = '<row r="3"><c r="C3"><v>1</v></c></row><row r="4"><c r="D4"><v>2</v></c></row>'
    assert read(build_xlsx({"Sheet1": rows})) == [["", "", "1"], ["", "", "", "2"]]


# calamine doesn't know the last one.
@pytest.mark.parametrize("error", ["#N/A", "#DIV/0!", "#REF!", "#SPILL!"])
@pytest.mark.parametrize("quote", ['"', "'"])
def test_errors_keep_their_text(error: str, quote: str) -> None:
    content = f"<f>A2</f><v>{error}</v>"
    assert read(cell(content, f"t={quote}e{quote}")) == [[error]]


def test_errors_are_found_in_large_sheets() -> None:
    xml = "".join(
        f'<row r="{number}"><c r="A{number}" t="e"><v>#N/A</v></c></row>'
        for number in range(1, 40_000)
    )
    assert read(build_xlsx({"Sheet1": xml})) == [["#N/A"]] * 39_999


def test_first_visible_sheet_with_rows_is_read() -> None:
    sheets = {
        "Empty": "",
        "Secret": rows_xml([["secret"]]),
        "People": rows_xml(ROWS),
        "More": rows_xml([["more"]]),
    }
    assert read(build_xlsx(sheets, hidden=["Secret"])) == ROWS


def test_links_to_other_workbooks_are_not_followed() -> None:
    link = b'<externalLink><externalBook r:id="rId1"/></externalLink>'
    data = build_xlsx(
        {"Sheet1": rows_xml(ROWS)}, extra={"xl/externalLinks/externalLink1.xml": link}
    )
    assert read(data) == ROWS


@pytest.mark.parametrize(
    "declaration",
    [
        '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>',
        '<!DOCTYPE x [<!ENTITY b SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE x SYSTEM "http://127.0.0.1:1/x.dtd">',
    ],
)
def test_entities_are_not_expanded(declaration: str) -> None:
    assert refuse(text_cell("&b;", declaration)) == "damaged_spreadsheet"


def test_deeply_nested_elements_are_read() -> None:
    nested = "<a>" * 200_000 + "</a>" * 200_000
    assert read(build_xlsx({"Sheet1": nested + rows_xml(ROWS)})) == ROWS


@pytest.mark.parametrize(
    "xml", ['<row r="1"><c r="A1"><v>1</v', '<row r="1"><c r="%%"><v>1</v></c></row>']
)
def test_broken_xml_is_refused(xml: str) -> None:
    assert refuse(build_xlsx({"Sheet1": xml})) == "damaged_spreadsheet"


def test_missing_sheet_is_refused() -> None:
    data = build_zip({"xl/workbook.xml": "<workbook/>", "xl/styles.xml": "<styleSheet/>"})
    assert refuse(data) == "damaged_spreadsheet"


def test_large_claimed_size_is_refused_without_opening() -> None:
    assert refuse(claim_size(build_table(ROWS), (1 << 30) + 1)) == "spreadsheet_too_large"


def test_highly_packed_content_is_refused_without_opening() -> None:
    data = build_xlsx({"Sheet1": rows_xml(ROWS)}, extra={"xl/media.xml": bytes(60 << 20)})
    assert len(data) < 100_000
    assert refuse(data) == "suspicious_archive"


def test_archive_with_too_many_entries_is_refused() -> None:
    extra = {f"xl/{number}.xml": b"" for number in range(MAX_ENTRIES)}
    assert refuse(build_xlsx({"Sheet1": ""}, extra=extra)) == "suspicious_archive"


def test_encrypted_entry_is_refused() -> None:
    data = bytearray(build_table(ROWS))
    entry = data.rindex(b"PK\x01\x02")
    data[entry + 8] |= 1
    assert refuse(bytes(data)) == "protected_spreadsheet"


@pytest.mark.parametrize("position", range(0, 2000, 40))
def test_flipped_bits_give_rows_or_a_clear_error(position: int) -> None:
    data = bytearray(build_table(ROWS))
    data[position % len(data)] ^= 0xFF
    try:
        read(bytes(data))
    except UnreadableFile as error:
        assert error.message
