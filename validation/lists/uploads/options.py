"""What a customer chooses for a list while uploading it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from django.core.exceptions import ValidationError

from apikeys.errors import ApiError
from runtime.unicode import validate_line
from validation.lists.files.formats import Hints
from validation.models.lists import Dedupe

MAX_NAME_LENGTH = 100
MAX_METADATA = 20
MAX_METADATA_KEY_LENGTH, MAX_METADATA_VALUE_LENGTH = 40, 500
# No spreadsheet has more columns.
MAX_COLUMN = 16_383
# The largest number that all JSON parsers read exactly.
MAX_CREDITS = (1 << 53) - 1


@dataclass(frozen=True, slots=True)
class ListOptions:
    # Empty: the file's name, or the time.
    name: str = ""
    dedupe: str = Dedupe.ADDRESS
    rechecks_unknown: bool = True
    starts_when_ready: bool = False
    max_credits: int | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    # What the customer says about the file. Empty or None: find out.
    content_type: str = ""
    delimiter: str = ""
    has_header: bool | None = None
    column: int | None = None

    def check(self) -> None:
        """Raise an ApiError that names the first wrong option."""
        _check_line("name", self.name, MAX_NAME_LENGTH)
        if self.dedupe not in Dedupe.values:
            raise _invalid("dedupe", f"dedupe must be one of {', '.join(Dedupe.values)}.")
        if self.max_credits is not None and not 1 <= self.max_credits <= MAX_CREDITS:
            raise _invalid("max_credits", "max_credits must be a number from 1.")
        if self.column is not None and not 0 <= self.column <= MAX_COLUMN:
            raise _invalid("column", f"column must be a number from 0 to {MAX_COLUMN}.")
        try:
            Hints(delimiter=self.delimiter)
        except ValueError:
            message = "delimiter must be one character, such as a comma, semicolon or tab."
            raise _invalid("delimiter", message) from None
        _check_metadata(self.metadata)


DEFAULT_OPTIONS = ListOptions()


def clean_name(file_name: str) -> str:
    """Make a name from that of an uploaded file, without characters that can't be shown."""
    text = "".join(character for character in file_name if _is_shown(character)).strip()
    return text if len(text) <= MAX_NAME_LENGTH else f"{text[: MAX_NAME_LENGTH - 1]}…"


def _is_shown(character: str) -> bool:
    try:
        validate_line(character)
    except ValidationError:
        return False
    return True


def _check_metadata(metadata: Mapping[str, str]) -> None:
    if len(metadata) > MAX_METADATA:
        raise _invalid("metadata", f"metadata can have up to {MAX_METADATA} fields.")
    for key, value in metadata.items():
        if not key:
            raise _invalid("metadata", "The names in metadata can't be empty.")
        _check_line("metadata", key, MAX_METADATA_KEY_LENGTH)
        _check_line("metadata", value, MAX_METADATA_VALUE_LENGTH)


def _check_line(param: str, text: str, max_length: int) -> None:
    try:
        validate_line(text)
    except ValidationError as error:
        raise _invalid(param, error.messages[0]) from None
    if len(text) > max_length:
        raise _invalid(param, f"{param} has a text of more than {max_length} characters.")


def _invalid(param: str, message: str) -> ApiError:
    return ApiError("invalid_field", message, param=param)
