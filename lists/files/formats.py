import io
from dataclasses import dataclass
from email.message import Message
from enum import StrEnum
from typing import BinaryIO

from lists.files.delimiters import (
    find_delimiter,
    find_separator_line,
    has_spaces_before_quotes,
    is_line_of_addresses,
)
from lists.files.errors import UnreadableFile
from lists.files.signatures import ZIP_SIGNATURE, refuse_other_formats
from lists.files.text_encoding import Confidence, find_encoding
from lists.files.xlsx import find_sheets

_SAMPLE_SIZE = 64 * 1024
_FORBIDDEN_DELIMITERS = set('\r\n"@.\0')


class FileKind(StrEnum):
    TEXT = "text"
    XLSX = "xlsx"


@dataclass(frozen=True, slots=True)
class Hints:
    """Contains what the customer says about the file. Empty values are detected."""

    # Such as `text/csv; charset=iso-8859-1`.
    content_type: str = ""
    delimiter: str = ""
    encoding: str = ""

    def __post_init__(self) -> None:
        is_allowed = len(self.delimiter) == 1 and not self.delimiter.isalnum()
        if self.delimiter and (not is_allowed or self.delimiter in _FORBIDDEN_DELIMITERS):
            raise ValueError("This character can't be a delimiter.")


@dataclass(frozen=True, slots=True)
class FileFormat:
    kind: FileKind
    encoding: str = ""
    encoding_confidence: Confidence = Confidence.CERTAIN
    # Empty for one address per line.
    delimiter: str = ""
    # The first line only names the delimiter.
    has_separator_line: bool = False
    # Whether a quotation mark may follow a space.
    skips_spaces: bool = False
    # Each cell of the line is a row.
    is_line_of_addresses: bool = False
    # Visible sheets. The first one with rows is read.
    sheets: tuple[str, ...] = ()


NO_HINTS = Hints()


def detect_format(stream: BinaryIO, hints: Hints = NO_HINTS) -> FileFormat:
    stream.seek(0)
    sample = stream.read(_SAMPLE_SIZE)
    if not sample.strip():
        raise UnreadableFile("empty_file")
    if sample.startswith(ZIP_SIGNATURE):
        return FileFormat(FileKind.XLSX, sheets=find_sheets(stream))
    refuse_other_formats(stream, sample)
    return _detect_text(stream, sample, hints)


def _detect_text(stream: BinaryIO, sample: bytes, hints: Hints) -> FileFormat:
    media_type = Message()
    media_type["content-type"] = hints.content_type
    charset = media_type.get_content_charset() or ""
    encoding, confidence = find_encoding(stream, sample, charset, hints.encoding)
    text = io.TextIOWrapper(io.BytesIO(sample), encoding, errors="replace", newline="").read()
    if len(sample) == _SAMPLE_SIZE:
        # The last line may be cut.
        end = max(text.rfind("\n"), text.rfind("\r"))
        text = text[: end + 1] or text
    separator = find_separator_line(text)
    delimiter = hints.delimiter or separator
    if not delimiter and media_type.get_content_type() == "text/tab-separated-values":
        delimiter = "\t"
    delimiter = find_delimiter(text) if delimiter is None else delimiter
    skips_spaces = has_spaces_before_quotes(text, delimiter)
    return FileFormat(
        FileKind.TEXT,
        encoding,
        confidence,
        delimiter,
        has_separator_line=separator is not None,
        skips_spaces=skips_spaces,
        is_line_of_addresses=is_line_of_addresses(text, delimiter, skips_spaces=skips_spaces),
    )
