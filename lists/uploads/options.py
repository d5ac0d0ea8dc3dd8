from collections.abc import Mapping
from dataclasses import dataclass, field
from unicodedata import category

from django.core.exceptions import ValidationError

from apikeys.errors import ApiError
from lists.files.formats import Hints
from lists.files.rows import MAX_COLUMNS
from lists.files.text_encoding import find_known_encoding
from lists.models.lists import Dedupe
from runtime.unicode import REFUSED_CATEGORIES, validate_line

MAX_NAME_LENGTH = 100
MAX_METADATA = 20
MAX_METADATA_KEY_LENGTH, MAX_METADATA_VALUE_LENGTH = 40, 500
MAX_COLUMN = MAX_COLUMNS - 1
# All JSON parsers read this number exactly.
MAX_CREDITS = (1 << 53) - 1


@dataclass(frozen=True, slots=True)
class ListOptions:
    # Empty for the file's name, or the time.
    name: str = ""
    dedupe: str = Dedupe.ADDRESS
    rechecks_unknown: bool = True
    checks_mailboxes: bool = False
    starts_when_ready: bool = False
    max_credits: int | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    # What the customer says about the file. Empty values and None are detected.
    content_type: str = ""
    delimiter: str = ""
    encoding: str = ""
    has_header: bool | None = None
    column: int | None = None
    extracts_addresses: bool = False

    def check(self) -> None:
        """Raise ApiError for what serializers and forms don't check."""
        _check_line("name", self.name, MAX_NAME_LENGTH)
        try:
            Hints(delimiter=self.delimiter)
        except ValueError:
            message = "delimiter must be one character, such as a comma, semicolon or tab."
            raise _invalid("delimiter", message) from None
        if self.encoding:
            read_encoding(self.encoding)
        if len(self.metadata) > MAX_METADATA:
            raise _invalid("metadata", f"metadata can have up to {MAX_METADATA} fields.")
        for key, value in self.metadata.items():
            if not key:
                raise _invalid("metadata", "The names in metadata can't be empty.")
            _check_line("metadata", key, MAX_METADATA_KEY_LENGTH)
            _check_line("metadata", value, MAX_METADATA_VALUE_LENGTH)


DEFAULT_OPTIONS = ListOptions()


def read_encoding(name: str) -> str:
    """Return Python's name of an encoding. Raise ApiError if it is unknown."""
    known = find_known_encoding(name)
    if not known:
        message = (
            "This encoding is unknown. Send a name such as utf-8, windows-1252, windows-1251, "
            "shift_jis, gbk or mac-roman, or leave it out."
        )
        raise _invalid("encoding", message)
    return known


def describe_missing_column(column: int, columns: int) -> str:
    """Return the message for a column that the file doesn't have."""
    noun = "column" if columns == 1 else "columns"
    return (
        f"There is no column {column}: the file has {columns:,} {noun}, counted from 0. Choose one "
        "of them."
    )


def clean_name(file_name: str) -> str:
    """Turn a file's name into a list's, without invisible characters."""
    shown = (letter for letter in file_name if category(letter) not in REFUSED_CATEGORIES)
    text = "".join(shown).strip()
    return text if len(text) <= MAX_NAME_LENGTH else f"{text[: MAX_NAME_LENGTH - 1]}…"


def _check_line(param: str, text: str, max_length: int) -> None:
    try:
        validate_line(text)
    except ValidationError as error:
        raise _invalid(param, error.messages[0]) from None
    if len(text) > max_length:
        raise _invalid(param, f"{param} has a text of more than {max_length} characters.")


def _invalid(param: str, message: str) -> ApiError:
    return ApiError("invalid_field", message, param=param)
