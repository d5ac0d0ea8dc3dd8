"""Write XLSX row by row, in the XML of XlsxWriter, which would need the whole sheet first."""

import re
from collections.abc import Generator, Iterable
from functools import cache
from io import BytesIO
from xml.sax.saxutils import escape
from zipfile import ZIP_DEFLATED, ZipFile

from xlsxwriter import Workbook
from xlsxwriter.utility import xl_col_to_name

from runtime.csv_download import Row

# Excel's limit, in UTF-16.
MAX_CELL_LENGTH = 32_767
_SHEET = "xl/worksheets/sheet1.xml"
# Excel's notation for what XML can't contain.
_SPECIAL = re.compile(r"_(?=x[0-9A-Fa-f]{4}_)|[\x00-\x08\x0b-\x1f\ufffe\uffff]")
_column = cache(xl_col_to_name)


class _Output(BytesIO):
    """Holds what ZipFile wrote since the last piece. Without a position, it writes a stream."""

    def tell(self) -> int:
        raise OSError


def stream_xlsx(rows: Iterable[bytes], *, is_huge: bool) -> Generator[bytes]:
    """Yield a workbook. A sheet of more than 2 GB must be `is_huge`, for another ZIP format."""
    output, template = _Output(), BytesIO()
    with Workbook(template, {"in_memory": True}) as workbook:
        workbook.add_worksheet("Results")
    with ZipFile(template) as files, ZipFile(output, "w", ZIP_DEFLATED, compresslevel=1) as zipped:
        for name in files.namelist():
            if name != _SHEET:
                zipped.writestr(name, files.read(name))
        # The size of the sheet isn't known yet.
        xml = files.read(_SHEET).replace(b'<dimension ref="A1"/>', b"")
        start, end = xml.split(b"<sheetData/>")
        with zipped.open(_SHEET, "w", force_zip64=is_huge) as sheet:
            sheet.write(start + b"<sheetData>")
            for row in rows:
                sheet.write(row)
                if piece := output.getvalue():
                    yield piece
                    output.truncate(0)
                    output.seek(0)
            sheet.write(b"</sheetData>" + end)
    yield output.getvalue()


def row_xml(number: int, row: Row) -> bytes:
    xml = f'<row r="{number}">'
    for index, cell in enumerate(row):
        if isinstance(cell, int):
            xml += f'<c r="{_column(index)}{number}"><v>{cell}</v></c>'
        elif cell:
            text = cell
            if len(cell) > MAX_CELL_LENGTH // 2:
                text = cell.encode("utf-16-le")[: 2 * MAX_CELL_LENGTH].decode("utf-16-le", "ignore")
            text = _SPECIAL.sub(lambda match: f"_x{ord(match[0]):04X}_", escape(text))
            space = ' xml:space="preserve"' if text != text.strip() else ""
            xml += (
                f'<c r="{_column(index)}{number}" t="inlineStr"><is><t{space}>{text}</t></is></c>'
            )
    return f"{xml}</row>".encode()
