from typing import Any, cast

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet

from lists.files.text_encoding import ENCODINGS
from lists.models import AddressList
from lists.models.lists import Dedupe
from lists.models.states import ListState
from lists.results.downloads import DEFAULT_COLUMNS, EXTRA_COLUMNS, Download, DownloadFormat
from lists.results.reading import ResultFilter
from lists.uploads.options import MAX_COLUMN, MAX_NAME_LENGTH, ListOptions
from lists.uploads.services import MAX_PART_BYTES
from runtime.http.query_form import QueryForm
from runtime.unicode import validate_line

MAX_PASTED_LINES = 10_000
MAX_FILE_NAME_LENGTH = 255
FILE_TYPES = ".csv,.tsv,.txt,.xlsx"
_SIZE = f"{MAX_PART_BYTES >> 20} MB"
_FILE_TOO_LARGE = (
    f"Without JavaScript, a file can have up to {_SIZE}. Turn on JavaScript, split the file, or "
    "upload it in parts through the API."
)
_TEXT_TOO_LARGE = f"You pasted more than {_SIZE}. Save the text as a file, and upload the file."

_DUPLICATES = {
    Dedupe.ADDRESS: "Same address",
    Dedupe.MAILBOX: "Same mailbox, including aliases",
    Dedupe.OFF: "Keep all",
}


class ListOptionsForm(forms.Form):
    name = forms.CharField(
        required=False,
        label="Name (optional)",
        max_length=MAX_NAME_LENGTH,
        validators=[validate_line],
        help_text="Leave empty to use the name of the file.",
        widget=forms.TextInput({"autocomplete": "off"}),
    )
    dedupe = forms.ChoiceField(
        label="Duplicates",
        choices=list(_DUPLICATES.items()),
        initial=Dedupe.ADDRESS,
        help_text=(
            "Duplicates are free, and get the result of the first one. “Keep all” checks every row."
        ),
    )
    encoding = forms.ChoiceField(
        required=False,
        choices=[("", "Detect automatically"), *ENCODINGS.items()],
        help_text="Choose one if letters look wrong in the preview.",
    )
    rechecks_unknown = forms.BooleanField(
        required=False,
        initial=True,
        label="Check unknown addresses again after 1, 10, and 60 minutes",
    )

    @property
    def options(self) -> ListOptions:
        return ListOptions(
            **{name: self.cleaned_data[name] for name in ListOptionsForm.base_fields}
        )


class UploadForm(ListOptionsForm):
    file_name = forms.CharField(max_length=MAX_FILE_NAME_LENGTH)
    file_size = forms.IntegerField(min_value=1)


class NewListForm(ListOptionsForm):
    file = forms.FileField(
        required=False,
        label="File",
        help_text="CSV, TSV, TXT, or the first sheet of an XLSX file.",
        widget=forms.FileInput({"accept": FILE_TYPES, "autocomplete": "off"}),
        error_messages={"empty": "The file is empty. Choose another file."},
    )
    # No `max_length`: browsers would cut off what is pasted.
    addresses = forms.CharField(
        required=False,
        label="Or paste addresses",
        help_text=f"One address per line, up to {MAX_PASTED_LINES:,} lines.",
        widget=forms.Textarea({"rows": 5, "spellcheck": "false", "autocomplete": "off"}),
    )

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
        if data["addresses"]:
            # The browser has decoded the text.
            data["encoding"] = ""
        return data

    def read_content(self) -> bytes:
        file, text = self.cleaned_data["file"], self.cleaned_data["addresses"]
        return cast(bytes, file.read() if file else text.encode())

    @property
    def file_name(self) -> str:
        file = self.cleaned_data["file"]
        return str(file.name) if file else ""


class ListFilter(QueryForm):
    q = forms.CharField(
        required=False,
        label="Name",
        max_length=MAX_NAME_LENGTH,
        widget=forms.TextInput({"type": "search", "autocomplete": "off"}),
    )
    state = forms.ChoiceField(required=False, choices=[("", "All states"), *ListState.choices])

    def select(self, lists: QuerySet[AddressList]) -> QuerySet[AddressList]:
        if not self.is_valid():
            return lists.none()
        name, state = self.cleaned_data["q"], self.cleaned_data["state"]
        return lists.filter(name__icontains=name, state__in=[state] if state else ListState)


class RenameForm(forms.Form):
    name = forms.CharField(max_length=MAX_NAME_LENGTH, validators=[validate_line])


class ColumnForm(forms.Form):
    column = forms.IntegerField(min_value=0, max_value=MAX_COLUMN)
    extract = forms.BooleanField(required=False)


class DownloadForm(forms.Form):
    filter = forms.ChoiceField(choices=ResultFilter.choices)
    format = forms.ChoiceField(choices=DownloadFormat.choices)
    columns = forms.MultipleChoiceField(
        required=False,
        choices=[(name, f"ev_{name.replace('.', '_')}") for name in EXTRA_COLUMNS],
        widget=forms.CheckboxSelectMultiple,
    )
    formulas = forms.ChoiceField(
        required=False,
        choices=[("defuse", "Defuse formulas"), ("keep", "Keep formulas")],
        widget=forms.HiddenInput,
    )

    def download(self, delimiter: str) -> Download:
        return Download(
            format=DownloadFormat(self.cleaned_data["format"]),
            wanted=ResultFilter(self.cleaned_data["filter"]),
            columns=[*DEFAULT_COLUMNS, *self.cleaned_data["columns"]],
            delimiter=delimiter,
            keep_formulas=self.cleaned_data["formulas"] == "keep",
        )
