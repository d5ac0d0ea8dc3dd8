"""Forms of the pages of lists."""

from typing import Any, cast

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile

from runtime.unicode import validate_line
from validation.lists.results.downloads import DownloadFormat
from validation.lists.results.reading import ResultFilter
from validation.lists.services import MAX_PART_BYTES
from validation.lists.uploads.options import MAX_NAME_LENGTH, ListOptions
from validation.lists.uploads.previews import ColumnFacts
from validation.models.lists import Dedupe

MAX_PASTED_LINES = 10_000
MAX_FILE_NAME_LENGTH = 255
FILE_TYPES = ".csv,.tsv,.txt,.xlsx"
_SIZE = f"{MAX_PART_BYTES >> 20} MB"
_FILE_TOO_LARGE = (
    f"Without JavaScript, a file can have up to {_SIZE}. Turn on JavaScript, split the file, or "
    "upload it in parts through the API."
)
_TEXT_TOO_LARGE = f"You pasted more than {_SIZE}. Save the text as a file, and upload the file."

_FILTERS = {
    ResultFilter.ALL: "All rows",
    ResultFilter.SAFE: "Safe to send",
    ResultFilter.DELIVERABLE: "Deliverable",
    ResultFilter.RISKY: "Risky",
    ResultFilter.UNDELIVERABLE: "Undeliverable",
    ResultFilter.UNKNOWN: "Unknown",
}
_DUPLICATES = {
    Dedupe.ADDRESS: "The same address",
    Dedupe.MAILBOX: "The same mailbox, even under an alias",
    Dedupe.OFF: "Nothing: check every row",
}


class ListOptionsForm(forms.Form):
    """What to do with the addresses of a new list."""

    name = forms.CharField(
        required=False,
        label="Name (optional)",
        max_length=MAX_NAME_LENGTH,
        validators=[validate_line],
        help_text="Leave empty to use the name of the file.",
        widget=forms.TextInput({"autocomplete": "off"}),
    )
    dedupe = forms.ChoiceField(
        label="Count as a duplicate",
        choices=list(_DUPLICATES.items()),
        initial=Dedupe.ADDRESS,
        help_text="Duplicates are free, and get the result of the first one.",
    )
    rechecks_unknown = forms.BooleanField(
        required=False,
        initial=True,
        label="Check unknown addresses again after 1, 10, and 60 minutes",
    )

    @property
    def options(self) -> ListOptions:
        return ListOptions(
            name=self.cleaned_data["name"],
            dedupe=self.cleaned_data["dedupe"],
            rechecks_unknown=self.cleaned_data["rechecks_unknown"],
        )


class UploadForm(ListOptionsForm):
    """A file that a script will upload in parts."""

    file_name = forms.CharField(max_length=MAX_FILE_NAME_LENGTH)
    file_size = forms.IntegerField(min_value=1)


class NewListForm(ListOptionsForm):
    """A file or pasted addresses, and what to do with them."""

    file = forms.FileField(
        required=False,
        label="File",
        help_text="CSV, TSV, TXT, or the first sheet of an XLSX file. Other columns stay in your "
        'downloads. <span class="lists-drop-hint">You can also drop a file anywhere on this '
        "page.</span>",
        widget=forms.FileInput({"accept": FILE_TYPES}),
        error_messages={"empty": "The file is empty. Choose another file."},
    )
    # No `max_length`: browsers would cut off what is pasted.
    addresses = forms.CharField(
        required=False,
        label="Or paste addresses",
        help_text=f"One address per line, up to {MAX_PASTED_LINES:,} lines.",
        widget=forms.Textarea({"rows": 5, "spellcheck": "false", "autocomplete": "off"}),
    )

    field_order = ("file", "addresses")

    def clean_file(self) -> UploadedFile[bytes] | None:
        file: UploadedFile[bytes] | None = self.cleaned_data["file"]
        if file is not None and (file.size or 0) > MAX_PART_BYTES:
            raise ValidationError(_FILE_TOO_LARGE)
        return file

    def clean_addresses(self) -> str:
        text: str = self.cleaned_data["addresses"]
        lines = len(text.splitlines())
        if lines > MAX_PASTED_LINES:
            raise ValidationError(
                f"You pasted {lines:,} lines. Paste up to {MAX_PASTED_LINES:,}, or upload a file."
            )
        if len(text.encode()) > MAX_PART_BYTES:
            raise ValidationError(_TEXT_TOO_LARGE)
        return text

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if self.errors:
            return data
        if data["file"] and data["addresses"]:
            raise ValidationError("Choose a file or paste addresses, but not both.")
        if not data["file"] and not data["addresses"]:
            raise ValidationError("Choose a file or paste addresses.")
        return data

    def read_content(self) -> bytes:
        """Return the bytes of the file, or of the pasted text."""
        file: UploadedFile[bytes] | None = self.cleaned_data["file"]
        if file is not None:
            return cast(bytes, file.read())
        return cast(str, self.cleaned_data["addresses"]).encode()

    @property
    def file_name(self) -> str:
        file: UploadedFile[bytes] | None = self.cleaned_data["file"]
        return (file.name or "") if file is not None else ""


class ColumnForm(forms.Form):
    column = forms.TypedChoiceField(coerce=int, label="Column with the addresses")

    def __init__(self, columns: list[ColumnFacts], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = cast(forms.TypedChoiceField, self.fields["column"])
        field.choices = [(column.index, _describe_column(column)) for column in columns]


def _describe_column(column: ColumnFacts) -> str:
    return f"{name_column(column.index, column.name)}: {column.evidence}"


def name_column(index: int, name: str) -> str:
    """Return the header of a column, or its number."""
    return name or f"Column {index + 1}"


class DownloadForm(forms.Form):
    filter = forms.ChoiceField(label="Rows", choices=list(_FILTERS.items()))
    format = forms.ChoiceField(
        choices=[(DownloadFormat.CSV, "CSV"), (DownloadFormat.JSON_LINES, "JSON Lines")]
    )
