"""Recognize files that hold no rows of text."""

import re
from typing import BinaryIO

from lists.files.errors import UnreadableFile

ZIP_SIGNATURE = b"PK\x03\x04"
_COMPOUND_FILE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_STREAMS = (
    ("EncryptedPackage", "protected_spreadsheet"),
    ("WordDocument", "office_document"),
    ("PowerPoint Document", "office_document"),
)
_DIRECTORY_SIZE = 8192
_SIGNATURES = (
    (b"%PDF-", "pdf"),
    (b"\x89PNG", "image"),
    (b"\xff\xd8\xff", "image"),
    (b"GIF8", "image"),
    (b"II*\x00", "image"),
    (b"MM\x00*", "image"),
    (b"\x1f\x8b", "compressed_file"),
    (b"BZh", "compressed_file"),
    (b"\xfd7zXZ\x00", "compressed_file"),
    (b"\x28\xb5\x2f\xfd", "compressed_file"),
    (b"7z\xbc\xaf\x27\x1c", "compressed_file"),
    (b"Rar!\x1a\x07", "compressed_file"),
    # An empty archive.
    (b"PK\x05\x06", "compressed_file"),
    (b"SQLite format 3\x00", "database_file"),
    (b"\x00\x01\x00\x00Standard ", "database_file"),
    (b"PAR1", "database_file"),
    (b"{\\rtf", "rich_text"),
)
_MARKUP = (
    (re.compile(rb"<(!doctype\s+html|html|head|body|table|meta)\b", re.IGNORECASE), "html"),
    (re.compile(rb"<\?xml\b"), "xml"),
    (re.compile(rb'\{\s*"[^"\n]*"\s*:|\[\s*["{]'), "json"),
    (re.compile(rb"BEGIN:VCARD\b", re.IGNORECASE), "contacts"),
)
# White space, and the end mark of old DOS files.
_ALLOWED_CONTROLS = b"\t\n\x0b\x0c\r\x1a\x1b"
_CONTROLS = bytes(code for code in range(1, 32) if code not in _ALLOWED_CONTROLS)
_MAX_CONTROL_SHARE = 0.02


def refuse_other_formats(stream: BinaryIO, sample: bytes) -> None:
    if sample.startswith(_COMPOUND_FILE):
        raise UnreadableFile(_identify_compound_file(stream, sample))
    for signature, code in _SIGNATURES:
        if sample.startswith(signature):
            raise UnreadableFile(code)
    text = sample.removeprefix(b"\xef\xbb\xbf").lstrip()
    for pattern, code in _MARKUP:
        if pattern.match(text):
            raise UnreadableFile(code)


def _identify_compound_file(stream: BinaryIO, header: bytes) -> str:
    """Return the error for an old Office file or a protected one."""
    # [MS-CFB] 2.2: sector size, and first sector of the directory.
    shift = int.from_bytes(header[30:32], "little")
    sector = int.from_bytes(header[48:52], "little")
    if shift not in {9, 12}:
        return "old_spreadsheet"
    stream.seek((sector + 1) << shift)
    directory = stream.read(_DIRECTORY_SIZE)
    codes = (code for name, code in _STREAMS if name.encode("utf-16-le") in directory)
    return next(codes, "old_spreadsheet")


def refuse_binary(sample: bytes) -> None:
    """Raise UnreadableFile unless the bytes are text."""
    zeros = sample.count(0)
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    if (zeros + controls) > len(sample) * _MAX_CONTROL_SHARE:
        raise UnreadableFile("binary_file")
