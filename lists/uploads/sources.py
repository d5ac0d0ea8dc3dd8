import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from typing import BinaryIO, cast

import orjson
from django.conf import settings

from lists.files.columns import ColumnGuess, guess_columns
from lists.files.errors import UnreadableFile
from lists.files.formats import Hints
from lists.files.process import open_file
from lists.files.rows import divide_rows
from lists.models import AddressList, ListChunk
from lists.packing import Rows
from lists.previews import FileFacts, StoredPreview
from runtime.encryption import decrypt_bytes

JSON_TYPE = "application/json"

Table = list[list[str]]


@dataclass(slots=True)
class Source:
    file: FileFacts
    guess: ColumnGuess
    # The rows without the header.
    chunks: Iterator[Table]
    is_stored: bool = False


@contextmanager
def open_source(address_list: AddressList) -> Iterator[Source]:
    """Open the rows. Opening and reading may raise UnreadableFile."""
    stored = address_list if address_list.was_parsed else address_list.rerun_of
    if stored is not None and stored.was_parsed:
        file_facts = StoredPreview.of(stored).file
        first = next(_read_chunks(stored), [])
        rows = [file_facts.header, *first] if file_facts.has_header else first
        is_beginning = ListChunk.objects.filter(list=stored).count() > 1
        guess = guess_columns(rows, file_facts.has_header, is_beginning=is_beginning)
        yield Source(file_facts, guess, _read_chunks(stored), is_stored=stored == address_list)
        return
    numbers = list(address_list.parts.values_list("number", flat=True))
    if not numbers:
        # An upload has parts, so this is a rerun.
        raise UnreadableFile("list_deleted")
    # The system's folder for temporary files may be in memory.
    with tempfile.TemporaryFile(dir=settings.DATA_DIR) as file:
        # One part in memory at a time.
        for number in numbers:
            file.write(decrypt_bytes(bytes(address_list.parts.get(number=number).content)))
        file.seek(0)
        if address_list.content_type == JSON_TYPE:
            emails = ([email] for email in orjson.loads(file.read()))
            yield _build(divide_rows(emails), FileFacts("json", "utf-8", ""), has_header=False)
            return
        hints = Hints(address_list.content_type, address_list.delimiter, address_list.encoding)
        with open_file(cast(BinaryIO, file), hints) as reader:
            found = reader.format
            file_facts = FileFacts(
                *(found.kind, found.encoding, found.delimiter),
                encoding_confidence=found.encoding_confidence,
            )
            yield _build(reader.chunks(), file_facts, has_header=address_list.has_header)


def _build(chunks: Iterator[Table], file: FileFacts, *, has_header: bool | None) -> Source:
    first, second = next(chunks, []), next(chunks, [])
    guess = guess_columns(first, has_header, is_beginning=bool(second))
    header, body = (first[0], first[1:]) if guess.has_header else ([], first)
    file = replace(file, has_header=guess.has_header, header=header)
    return Source(file, guess, filter(None, chain([body, second], chunks)))


def _read_chunks(address_list: AddressList) -> Iterator[Table]:
    chunks = ListChunk.objects.filter(list=address_list)
    rows = 0
    for pk in list(chunks.values_list("pk", flat=True)):
        if chunk := chunks.filter(pk=pk).first():
            rows += chunk.row_count
            yield [*Rows.unpack(chunk.rows).cells]
    if rows < address_list.rows:
        # Its rows are being deleted.
        raise UnreadableFile("list_deleted")
