"""Where parsing gets the rows of a list from: the uploaded file, or the rows stored before."""

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import BinaryIO, cast

import orjson
from django.conf import settings

from runtime.encryption import decrypt_bytes
from validation.lists.files.columns import ColumnGuess, guess_columns
from validation.lists.files.errors import UnreadableFile
from validation.lists.files.formats import FileFormat, Hints
from validation.lists.files.process import FileReader, Limits
from validation.lists.payloads import Rows
from validation.lists.uploads.previews import FileFacts, StoredPreview
from validation.models import AddressList, ListChunk
from validation.models.lists import CHUNK_ROWS

JSON_TYPE = "application/json"
# How long the process that reads the file may be silent.
_LIMITS = Limits(wait_seconds=240.0)
# The rows of a chunk are in memory together. Those of a list of addresses are much smaller.
_MAX_CHUNK_CHARACTERS = 32 << 20

Table = list[list[str]]


@dataclass(slots=True)
class Source:
    file: FileFacts
    guess: ColumnGuess
    # The rows without the header, by CHUNK_ROWS. Only the last chunk has fewer.
    chunks: Iterator[Table]
    # The rows are those of the list's chunks.
    is_stored: bool = False


@contextmanager
def open_source(address_list: AddressList) -> Iterator[Source]:
    """Open the rows of a list, or raise UnreadableFile. Reading may raise it as well."""
    if address_list.was_parsed:
        yield _open_chunks(address_list)
        return
    # In many systems, the folder for temporary files is in memory.
    with tempfile.TemporaryFile(dir=settings.DATA_DIR) as file:
        for content in _read_parts(address_list):
            file.write(content)
        file.seek(0)
        if address_list.content_type == JSON_TYPE:
            rows = [[email] for email in orjson.loads(file.read())]
            yield _build([rows], None, has_header=False)
            return
        with _open_file(cast(BinaryIO, file), address_list) as reader:
            yield _build(reader.batches(), reader.format, address_list.has_header)


def _read_parts(address_list: AddressList) -> Iterator[bytes]:
    """Yield one part after the other, so that only one is in memory."""
    numbers = list(address_list.parts.order_by("number").values_list("number", flat=True))
    for number in numbers:
        yield decrypt_bytes(bytes(address_list.parts.get(number=number).content))


def _open_file(file: BinaryIO, address_list: AddressList) -> FileReader:
    hints = Hints(address_list.content_type, address_list.delimiter)
    return FileReader(file, hints, _LIMITS)


def _build(
    batches: Iterable[Table], file_format: FileFormat | None, has_header: bool | None
) -> Source:
    rows = _rechunk(batches)
    first = next(rows, [])
    guess = guess_columns(first, has_header)
    header = first[0] if guess.has_header else None
    body = first[1:] if guess.has_header else first
    return Source(FileFacts.of(file_format, header), guess, _rechunk(chain([body], rows)))


def _rechunk(batches: Iterable[Table]) -> Iterator[Table]:
    rows: Table = []
    size = count = 0
    for batch in batches:
        rows += batch
        size += sum(len(cell) for row in batch for cell in row)
        if size > _MAX_CHUNK_CHARACTERS:
            row = count + len(rows)
            raise UnreadableFile("rows_too_large", line=row, limit=min(row, CHUNK_ROWS))
        while len(rows) >= CHUNK_ROWS:
            yield rows[:CHUNK_ROWS]
            del rows[:CHUNK_ROWS]
            count += CHUNK_ROWS
            size = sum(len(cell) for row in rows for cell in row)
    if rows:
        yield rows


def _open_chunks(address_list: AddressList) -> Source:
    file = StoredPreview.unpack(bytes(address_list.preview)).file
    first = next(_read_chunks(address_list), [])
    rows = [file.header, *first] if file.has_header else first
    guess = guess_columns(rows, file.has_header)
    return Source(file, guess, _read_chunks(address_list), is_stored=True)


def _read_chunks(address_list: AddressList) -> Iterator[Table]:
    """Yield the rows of one chunk after the other, so that only one is in memory."""
    chunks = ListChunk.objects.filter(list=address_list)
    for number in list(chunks.order_by("number").values_list("number", flat=True)):
        yield Rows.unpack(bytes(chunks.get(number=number).rows)).cells
