"""Build XLSX files by hand, hostile ones too."""

import io
import zipfile
from collections.abc import Iterable, Mapping
from xml.sax.saxutils import escape

_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
# Styles 1 to 3: date, date with time, time.
_FORMATS = "".join(f'<xf numFmtId="{number}"/>' for number in (0, 14, 22, 21))


def column_letters(index: int) -> str:
    letters = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def row_xml(number: int, cells: Iterable[str]) -> str:
    content = "".join(
        f'<c r="{column_letters(index)}{number}" t="inlineStr">'
        f'<is><t xml:space="preserve">{escape(cell)}</t></is></c>'
        for index, cell in enumerate(cells)
    )
    return f'<row r="{number}">{content}</row>'


def rows_xml(rows: Iterable[Iterable[str]]) -> str:
    return "".join(row_xml(number, row) for number, row in enumerate(rows, 1))


def build_xlsx(
    sheets: Mapping[str, str],
    *,
    hidden: Iterable[str] = (),
    prolog: str = "",
    extra: Mapping[str, bytes] | None = None,
) -> bytes:
    """Return a workbook. `sheets` maps names to the XML of rows."""
    entries, relations, parts = "", "", {}
    for number, (name, rows) in enumerate(sheets.items(), 1):
        state = ' state="hidden"' if name in hidden else ""
        entries += f'<sheet name="{name}" sheetId="{number}"{state} r:id="rId{number}"/>'
        relations += (
            f'<Relationship Id="rId{number}" Type="{_OFFICE}/worksheet"'
            f' Target="worksheets/sheet{number}.xml"/>'
        )
        parts[f"xl/worksheets/sheet{number}.xml"] = (
            f'{prolog}<worksheet xmlns="{_MAIN}"><sheetData>{rows}</sheetData></worksheet>'
        )
    return build_zip(
        {
            "[Content_Types].xml": f'<Types xmlns="{_TYPES}"/>',
            "_rels/.rels": (
                f'<Relationships xmlns="{_RELATIONS}"><Relationship Id="rId1"'
                f' Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>'
            ),
            "xl/workbook.xml": (
                f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{entries}</sheets>'
                "</workbook>"
            ),
            "xl/_rels/workbook.xml.rels": (
                f'<Relationships xmlns="{_RELATIONS}">{relations}</Relationships>'
            ),
            "xl/styles.xml": (
                f'<styleSheet xmlns="{_MAIN}"><cellXfs>{_FORMATS}</cellXfs></styleSheet>'
            ),
            **parts,
            **(extra or {}),
        }
    )


def build_table(rows: Iterable[Iterable[str]]) -> bytes:
    return build_xlsx({"Sheet1": rows_xml(rows)})


def build_zip(parts: Mapping[str, str | bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return file.getvalue()


def claim_size(data: bytes, size: int) -> bytes:
    """Change the unpacked size of the last entry in the archive's directory."""
    entry = data.rindex(b"PK\x01\x02")
    return data[: entry + 24] + size.to_bytes(4, "little") + data[entry + 28 :]
