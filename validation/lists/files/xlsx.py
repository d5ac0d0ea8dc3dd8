"""Read spreadsheets in the XLSX format with calamine, after a look at the archive."""

import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from typing import BinaryIO

from python_calamine import (
    CalamineError,
    CalamineSheet,
    CalamineWorkbook,
    PasswordError,
    SheetTypeEnum,
    SheetVisibleEnum,
)

from validation.lists.files.errors import UnreadableFile

MAX_UNPACKED_SIZE = 1 << 30
MAX_ENTRIES = 5_000
# Sheets of many equal rows are packed well, so the ratio counts only for large files.
MAX_RATIO, MIN_SIZE_FOR_RATIO = 200, 50 << 20
_MAIN_PART = "xl/workbook.xml"
_OTHER_FORMATS = (
    ("xl/workbook.bin", "binary_spreadsheet"),
    ("EncryptedPackage", "protected_spreadsheet"),
    ("mimetype", "open_document"),
    ("Index/Document.iwa", "office_document"),
    ("word/document.xml", "office_document"),
    ("ppt/presentation.xml", "office_document"),
)

Cell = int | float | str | bool | time | date | datetime | timedelta


def find_sheets(stream: BinaryIO) -> tuple[str, ...]:
    """Return the names of the visible sheets, or raise UnreadableFile."""
    _check_archive(stream)
    with _open_workbook(stream) as workbook:
        return tuple(
            sheet.name
            for sheet in workbook.sheets_metadata
            if sheet.typ == SheetTypeEnum.WorkSheet and sheet.visible == SheetVisibleEnum.Visible
        )


def read_rows(stream: BinaryIO, sheets: Iterable[str]) -> Iterator[list[str]]:
    """Yield the rows of the first of these sheets that holds any text.

    Formulas give their last computed value.
    """
    with _open_workbook(stream) as workbook:
        for sheet in sheets:
            rows = _read_sheet(workbook.get_sheet_by_name(sheet))
            first = next(rows, None)
            if first is not None:
                yield first
                yield from rows
                return


def _read_sheet(sheet: CalamineSheet) -> Iterator[list[str]]:
    for cells in sheet.iter_rows():
        row = [cell if type(cell) is str else _to_text(cell) for cell in cells]
        if any(row):
            yield [cell.replace("\0", "") for cell in row]


def _check_archive(stream: BinaryIO) -> None:
    """Refuse archives that are no spreadsheets, or whose content would fill the memory.

    An archive can claim too small sizes. The limits of the process are for those.
    """
    try:
        with zipfile.ZipFile(stream) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
        raise UnreadableFile("damaged_spreadsheet") from error
    names = {entry.filename for entry in entries}
    if _MAIN_PART not in names:
        other = (code for name, code in _OTHER_FORMATS if name in names)
        raise UnreadableFile(next(other, "compressed_file"))
    if any(entry.flag_bits & 1 for entry in entries):
        raise UnreadableFile("protected_spreadsheet")
    if len(entries) > MAX_ENTRIES or len(names) < len(entries):
        raise UnreadableFile("suspicious_archive")
    unpacked = sum(entry.file_size for entry in entries)
    packed = sum(entry.compress_size for entry in entries)
    if unpacked > MAX_UNPACKED_SIZE:
        raise UnreadableFile("spreadsheet_too_large")
    if unpacked > MIN_SIZE_FOR_RATIO and unpacked > packed * MAX_RATIO:
        raise UnreadableFile("suspicious_archive")


@contextmanager
def _open_workbook(stream: BinaryIO) -> Iterator[CalamineWorkbook]:
    stream.seek(0)
    try:
        with CalamineWorkbook.from_filelike(stream) as workbook:
            yield workbook
    except PasswordError as error:
        raise UnreadableFile("protected_spreadsheet") from error
    except CalamineError as error:
        raise UnreadableFile("damaged_spreadsheet") from error


def _to_text(cell: Cell) -> str:
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float):
        # Spreadsheets store whole numbers, such as phone numbers, as floats.
        return str(int(cell)) if cell.is_integer() else repr(cell)
    if isinstance(cell, datetime):
        return cell.isoformat(" ")
    if isinstance(cell, date | time):
        return cell.isoformat()
    return str(cell)
