"""GET /v1/lists/{id}/results and GET /v1/lists/{id}/download."""

from collections.abc import Iterator

from apikeys.request import ApiRequest
from apikeys.rest.responses import ApiResponse, ApiStream, json_response
from apikeys.rest.schema import describe
from validation.lists.api.base import LIST_ERRORS, ListView, invalid_state, refuse_unchecked
from validation.lists.api.examples import DOWNLOAD_CSV, DOWNLOAD_JSON_LINES, RESULTS_EXAMPLE
from validation.lists.api.parameters import (
    invalid_field,
    read_choice,
    read_flag,
    read_number,
    read_text,
)
from validation.lists.api.schema import DOWNLOAD_PARAMETERS, RESULTS_PARAMETERS
from validation.lists.api.serializers import ListResultsSerializer
from validation.lists.results.downloads import (
    DownloadFormat,
    parse_columns,
    row_document,
    stream_csv,
    stream_json_lines,
)
from validation.lists.results.reading import ResultFilter, find_page
from validation.models.list_states import State

DEFAULT_ROWS, MAX_ROWS = 100, 1000
_ERRORS = (*LIST_ERRORS, "invalid_field", "invalid_state", "list_expired")
MEDIA_TYPES = {
    DownloadFormat.CSV: "text/csv; charset=utf-8",
    DownloadFormat.JSON_LINES: "application/x-ndjson",
}


class _RowsView(ListView):
    wanted: ResultFilter

    def prepare(self) -> None:
        choices = [wanted.value for wanted in ResultFilter]
        self.wanted = ResultFilter(read_choice(self.request, "filter", choices, "all"))


class ResultsView(_RowsView):
    query_parameters = ("filter", "limit", "starting_after")

    limit: int
    after: int

    def prepare(self) -> None:
        super().prepare()
        self.limit = read_number(self.request, "limit", DEFAULT_ROWS, low=1, high=MAX_ROWS)
        self.after = read_number(self.request, "starting_after", 0, low=0, high=999_999_999)

    @describe(
        "show-list-results",
        "Get the results of a list",
        "Returns the rows of a list with their results, in the order of the file. Results appear "
        "while the list is running.",
        ListResultsSerializer,
        tag="Lists",
        parameters=RESULTS_PARAMETERS,
        examples={"Three rows": RESULTS_EXAMPLE},
        refusals=_ERRORS,
    )
    def get(self, request: ApiRequest, list_id: str) -> ApiResponse:
        refuse_unchecked(self.address_list)
        page = find_page(self.address_list, self.wanted, after=self.after, limit=self.limit)
        return json_response(
            {
                "data": [row_document(row) for row in page.rows],
                "has_more": page.next is not None,
                "next": page.next,
                "state": self.address_list.state,
            }
        )


class DownloadView(_RowsView):
    query_parameters = ("format", "filter", "columns", "partial")
    returns_json = False

    format: DownloadFormat
    columns: list[str]
    is_partial: bool

    def prepare(self) -> None:
        super().prepare()
        formats = [one.value for one in DownloadFormat]
        self.format = DownloadFormat(read_choice(self.request, "format", formats, "csv"))
        self.columns = self._read_columns()
        self.is_partial = read_flag(self.request, "partial")

    def _read_columns(self) -> list[str]:
        text = read_text(self.request, "columns")
        if text is None:
            return []
        if self.format is not DownloadFormat.CSV:
            message = "columns is for CSV only: JSON Lines have the whole results."
            raise invalid_field("columns", message)
        try:
            return parse_columns(text)
        except ValueError:
            message = "columns has an unknown name. The API reference lists those that exist."
            raise invalid_field("columns", message) from None

    @describe(
        "download-list",
        "Download a list",
        "Returns the file with your columns in their order, and ours behind them: `ev_verdict`, "
        "`ev_reason`, `ev_score`, `ev_safe_to_send`, `ev_did_you_mean`, and `ev_normalized`. In a "
        "CSV file, text that a spreadsheet could run as a formula begins with an apostrophe. "
        "A list that isn't completed needs `partial=true`.",
        None,
        tag="Lists",
        parameters=DOWNLOAD_PARAMETERS,
        examples={"text/csv": DOWNLOAD_CSV, "application/x-ndjson": DOWNLOAD_JSON_LINES},
        refusals=_ERRORS,
    )
    def get(self, request: ApiRequest, list_id: str) -> ApiStream:
        refuse_unchecked(self.address_list)
        if self.address_list.state != State.COMPLETED and not self.is_partial:
            message = "The list isn't completed. Send partial=true to download its results so far."
            raise invalid_state(self.address_list, message)
        name = f"{list_id}.{self.format}"
        headers = {
            "Content-Type": MEDIA_TYPES[self.format],
            "Content-Disposition": f'attachment; filename="{name}"',
        }
        pieces = iter(()) if request.method == "HEAD" else self._pieces()
        return ApiStream(pieces, headers)

    def _pieces(self) -> Iterator[bytes]:
        if self.format is DownloadFormat.CSV:
            return stream_csv(self.address_list, self.wanted, self.columns)
        return stream_json_lines(self.address_list, self.wanted)
