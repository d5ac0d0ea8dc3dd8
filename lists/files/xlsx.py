import io
import re
import zipfile
import zlib
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from typing import BinaryIO

from python_calamine import (
    CalamineError,
    CalamineWorkbook,
    PasswordError,
    SheetTypeEnum,
    SheetVisibleEnum,
)

from lists.files.errors import UnreadableFile

MAX_UNPACKED_SIZE = 1 << 30
MAX_ENTRIES = 5_000
# Equal rows compress well, so the ratio counts only for large files.
MAX_RATIO, MIN_SIZE_FOR_RATIO = 200, 50 << 20
_ERROR_CELL = re.compile(rb"""(<c\b[^>]*\st=)["']e["']""")
_PIECE_SIZE = 1 << 20
_MAIN_PART = "xl/workbook.xml"
_OTHER_FORMATS = (
    ("xl/workbook.bin", "binary_spreadsheet"),
    ("EncryptedPackage", "protected_spreadsheet"),
    ("mimetype", "open_document"),
    ("Index/Document.iwa", "office_document"),
    ("word/document.xml", "office_document"),
    ("ppt/presentation.xml", "office_document"),
)

CellValue = int | float | str | bool | time | date | datetime | timedelta


def find_sheets(stream: BinaryIO) -> tuple[str, ...]:
    _check_archive(stream)
    with _open_workbook(stream) as workbook:
        return tuple(
            sheet.name
            for sheet in workbook.sheets_metadata
            if sheet.typ == SheetTypeEnum.WorkSheet and sheet.visible == SheetVisibleEnum.Visible
        )


def read_rows(stream: BinaryIO, sheets: Iterable[str]) -> Generator[list[str]]:
    """Yield the rows of the first sheet with text. A formula gives its last value."""
    with _open_workbook(_keep_errors(stream)) as workbook:
        for name in sheets:
            has_text = False
            sheet = workbook.get_sheet_by_name(name)
            # calamine leaves out empty columns before the first one with text.
            before = [""] * sheet.start[1] if sheet.start else []
            for cells in sheet.iter_rows():
                row = [cell if type(cell) is str else _to_text(cell) for cell in cells]
                if any(row):
                    has_text = True
                    yield [*before, *(cell.replace("\0", "") for cell in row)]
            if has_text:
                return


def _check_archive(stream: BinaryIO) -> None:
    """Refuse unsuitable archives. If they state wrong sizes, the process's limits apply."""
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


def _keep_errors(stream: BinaryIO) -> BinaryIO:
    """Return the workbook with errors such as #N/A as text, which calamine would leave out."""
    try:
        with zipfile.ZipFile(stream) as archive:
            sheets = [name for name in archive.namelist() if name.startswith("xl/worksheets/")]
            pieces = (piece for name in sheets for piece in _read_pieces(archive, name))
            # Much faster than the expression.
            if not any(b't="e"' in piece or b"t='e'" in piece for piece in pieces):
                return stream
            copy = io.BytesIO()
            with zipfile.ZipFile(copy, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as target:
                for name in archive.namelist():
                    with target.open(name, "w", force_zip64=True) as file:
                        for piece in _read_pieces(archive, name):
                            file.write(_ERROR_CELL.sub(rb'\1"str"', piece))
            return copy
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError) as error:
        raise UnreadableFile("damaged_spreadsheet") from error


def _read_pieces(archive: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    """Yield the content in pieces that end before a tag."""
    rest = b""
    with archive.open(name) as file:
        while content := file.read(_PIECE_SIZE):
            piece, tag, start = (rest + content).rpartition(b"<")
            yield piece
            rest = tag + start
    yield rest


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


def _to_text(cell: CellValue) -> str:
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float):
        # Spreadsheets store phone numbers as floats.
        return str(int(cell)) if cell.is_integer() else repr(cell)
    if isinstance(cell, datetime):
        return cell.isoformat(" ")
    if isinstance(cell, date | time):
        return cell.isoformat()
    return str(cell)
