"""Find out how to read an uploaded file, from its bytes and from what the customer says."""

import io
from dataclasses import dataclass
from email.message import Message
from enum import StrEnum
from typing import BinaryIO

from validation.lists.files.delimiters import (
    find_delimiter,
    find_separator_line,
    is_line_of_addresses,
)
from validation.lists.files.errors import UnreadableFile
from validation.lists.files.signatures import ZIP_SIGNATURE, refuse_other_formats
from validation.lists.files.text_encoding import find_encoding
from validation.lists.files.xlsx import find_sheets

_SAMPLE_SIZE = 64 * 1024
_FORBIDDEN_DELIMITERS = set('\r\n"@.\0')


class Kind(StrEnum):
    TEXT = "text"
    XLSX = "xlsx"


@dataclass(frozen=True, slots=True)
class Hints:
    """What the customer says about the file. Empty: find out."""

    # With a charset, as in `text/csv; charset=iso-8859-1`.
    content_type: str = ""
    delimiter: str = ""

    def __post_init__(self) -> None:
        is_allowed = len(self.delimiter) == 1 and not self.delimiter.isalnum()
        if self.delimiter and (not is_allowed or self.delimiter in _FORBIDDEN_DELIMITERS):
            raise ValueError("This character can't be a delimiter.")


@dataclass(frozen=True, slots=True)
class FileFormat:
    kind: Kind
    encoding: str = ""
    # The file may have another encoding. The customer should look at names with accents.
    is_encoding_guessed: bool = False
    # Empty for one address per line.
    delimiter: str = ""
    # The first line only names the delimiter.
    has_separator_line: bool = False
    # Each cell of the only line is a row.
    is_line_of_addresses: bool = False
    # The visible sheets. The first one with rows is read.
    sheets: tuple[str, ...] = ()


NO_HINTS = Hints()


def detect_format(stream: BinaryIO, hints: Hints = NO_HINTS) -> FileFormat:
    """Return the format of a file, which must be seekable, or raise UnreadableFile."""
    stream.seek(0)
    sample = stream.read(_SAMPLE_SIZE)
    if not sample.strip():
        raise UnreadableFile("empty_file")
    if sample.startswith(ZIP_SIGNATURE):
        return FileFormat(Kind.XLSX, sheets=find_sheets(stream))
    refuse_other_formats(stream, sample)
    return _detect_text(stream, sample, hints)


def _detect_text(stream: BinaryIO, sample: bytes, hints: Hints) -> FileFormat:
    media_type = Message()
    media_type["content-type"] = hints.content_type
    charset = media_type.get_content_charset() or ""
    encoding, is_guess = find_encoding(stream, sample, charset)
    text = _decode_sample(sample, encoding)
    separator = find_separator_line(text)
    delimiter = hints.delimiter or separator
    if not delimiter and media_type.get_content_type() == "text/tab-separated-values":
        delimiter = "\t"
    delimiter = find_delimiter(text) if delimiter is None else delimiter
    return FileFormat(
        Kind.TEXT,
        encoding,
        is_guess,
        delimiter,
        has_separator_line=separator is not None,
        is_line_of_addresses=is_line_of_addresses(text, delimiter),
    )


def _decode_sample(sample: bytes, encoding: str) -> str:
    """Decode the first bytes without the last line, which may be cut."""
    text = io.TextIOWrapper(io.BytesIO(sample), encoding, errors="replace", newline="").read()
    if len(sample) < _SAMPLE_SIZE:
        return text
    end = max(text.rfind("\n"), text.rfind("\r"))
    return text[: end + 1] or text
