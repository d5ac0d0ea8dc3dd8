from typing import Any

from drf_spectacular.utils import OpenApiParameter

from apikeys.request import ApiRequest
from apikeys.rest.request_body import invalid_field
from apikeys.rest.responses import ApiResponse, ApiStream, json_response
from apikeys.rest.schema import named_example
from lists.api.base import LIST_ID, ListView, describe_list, refuse_unchecked
from lists.api.row_serializers import DownloadQuery, ListResultsSerializer, ResultsQuery
from lists.api.uploads.schema import XLSX
from lists.models.states import ListState
from lists.results.downloads import (
    DEFAULT_COLUMNS,
    Download,
    DownloadFormat,
    limit_downloads,
    parse_columns,
    row_document,
    stream_download,
)
from lists.results.reading import ResultFilter, find_page

MEDIA_TYPES = {
    DownloadFormat.CSV: "text/csv; charset=utf-8",
    DownloadFormat.XLSX: XLSX,
    DownloadFormat.JSON_LINES: "application/x-ndjson",
}
LIST_STATE = OpenApiParameter(
    "X-List-State",
    {"type": "string", "enum": [state.value for state in ListState]},
    OpenApiParameter.HEADER,
    response=[200],
    description="The list's state when the download began.",
    examples=[named_example("A completed list", "completed")],
)


class ResultsView(ListView):
    chosen: dict[str, Any]

    def prepare(self) -> None:
        self.chosen = ResultsQuery.parse_query(self.request)

    @describe_list(
        "show-list-results",
        "Get the results of a list",
        "Returns the rows of a list with their results, in the order of the file. Results appear "
        "while the list is running.",
        ListResultsSerializer,
        parameters=[LIST_ID, ResultsQuery],
        refusals=["invalid_state", "list_expired"],
    )
    def get(self, request: ApiRequest, list_id: str) -> ApiResponse:
        refuse_unchecked(self.address_list)
        page = find_page(
            self.address_list,
            ResultFilter(self.chosen.get("filter", "all")),
            after=self.chosen.get("starting_after", 0),
            limit=self.chosen.get("limit", 100),
        )
        return json_response(
            {
                "data": [row_document(row) for row in page.rows],
                "has_more": page.next is not None,
                "next": page.next,
                "state": self.address_list.state,
            }
        )


class DownloadView(ListView):
    returns_json = False

    download: Download
    is_partial: bool

    def prepare(self) -> None:
        chosen = DownloadQuery.parse_query(self.request)
        self.is_partial = chosen.get("partial") == "true"
        columns = chosen.get("columns")
        file_format = DownloadFormat(chosen.get("format", "csv"))
        if columns is not None and file_format is DownloadFormat.JSON_LINES:
            message = "JSON Lines have the whole results. Leave out columns, or choose csv or xlsx."
            raise invalid_field("columns", message)
        self.download = Download(
            format=file_format,
            wanted=ResultFilter(chosen.get("filter", "all")),
            columns=DEFAULT_COLUMNS if columns is None else parse_columns(columns),
            keep_formulas=chosen.get("formulas") == "keep",
        )

    @describe_list(
        "download-list",
        "Download a list",
        "Returns the file with your columns in their order, and ours behind them: `ev_verdict`, "
        "`ev_reason`, `ev_score`, `ev_safe_to_send`, `ev_did_you_mean`, and `ev_normalized`. "
        "In a CSV file, text that a spreadsheet could run as a formula begins with an apostrophe, "
        "unless you send `formulas=keep`. Until every address has a result, `partial=true` is "
        "needed.",
        None,
        parameters=[LIST_ID, DownloadQuery, LIST_STATE],
        examples={
            "text/csv": "name,email,ev_verdict,ev_reason,ev_score,ev_safe_to_send,ev_did_you_mean,"
            "ev_normalized\r\nJane,deliverable@sandbox.test,deliverable,mailbox_accepted,100,true,,"
            "deliverable@sandbox.test\r\n",
            XLSX: "PK…",
            "application/x-ndjson": '{"row":1,"kind":"address","duplicate_of":null,"result":{…},'
            '"cells":["Jane","deliverable@sandbox.test"]}\n',
        },
        refusals=["invalid_state", "list_expired"],
    )
    def get(self, request: ApiRequest, list_id: str) -> ApiStream:
        refuse_unchecked(self.address_list)
        found, file_format = self.address_list, self.download.format
        is_complete = found.results_at is not None or found.state == ListState.COMPLETED
        if not is_complete and not self.is_partial:
            message = (
                "Some addresses don't have a result yet. Wait for them, or send partial=true to "
                "download the results so far."
            )
            raise found.invalid_state(message)
        headers = {
            "Content-Type": MEDIA_TYPES[file_format],
            "Content-Disposition": f'attachment; filename="{list_id}.{file_format}"',
            "X-List-State": found.state,
        }
        pieces = stream_download(found, self.download)
        if request.method == "HEAD":
            pieces.close()
        return ApiStream(limit_downloads(found.account, pieces), headers)
