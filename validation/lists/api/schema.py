"""The parameters of the operations on lists, as the OpenAPI document describes them."""

from drf_spectacular.utils import OpenApiParameter

from apikeys.rest.schema import named_example
from validation.lists.api.examples import LIST_ID_EXAMPLE
from validation.lists.api.waiting import MAX_SECONDS
from validation.lists.results.downloads import DownloadFormat
from validation.lists.results.reading import ResultFilter

_ID_SCHEMA = {"type": "string", "pattern": "^lst_[A-Za-z0-9]{20}$"}
LIST_ID = OpenApiParameter(
    "list_id",
    _ID_SCHEMA,
    OpenApiParameter.PATH,
    description="ID of the list",
    examples=[named_example("A list", LIST_ID_EXAMPLE)],
)
WAIT = OpenApiParameter(
    "wait",
    {"type": "integer", "minimum": 0, "maximum": MAX_SECONDS},
    description="Seconds to wait for another state, if the list is parsing, queued, running or "
    "rechecking. Defaults to 0",
    examples=[named_example("Long polling", 20)],
)
LISTS_PARAMETERS = [
    OpenApiParameter(
        "limit",
        {"type": "integer", "minimum": 1, "maximum": 100},
        description="Number of lists on a page. Defaults to 20",
        examples=[named_example("A page of ten lists", 10)],
    ),
    OpenApiParameter(
        "starting_after",
        _ID_SCHEMA,
        description="ID of the last list of the page before",
        examples=[named_example("The next page of lists", LIST_ID_EXAMPLE)],
    ),
]
_FILTER = OpenApiParameter(
    "filter",
    {"type": "string", "enum": [wanted.value for wanted in ResultFilter]},
    description="Only rows with this verdict, or those that are safe to send to. Defaults to `all`",
    examples=[named_example("Deliverable addresses", "deliverable")],
)
RESULTS_PARAMETERS = [
    LIST_ID,
    _FILTER,
    OpenApiParameter(
        "limit",
        {"type": "integer", "minimum": 1, "maximum": 1000},
        description="Number of rows on a page. Defaults to 100",
        examples=[named_example("A page of ten rows", 10)],
    ),
    OpenApiParameter(
        "starting_after",
        {"type": "integer", "minimum": 0, "maximum": 999_999_999},
        description="Number of the row behind which the page begins. Defaults to 0",
        examples=[named_example("The second page of rows", 100)],
    ),
]
DOWNLOAD_PARAMETERS = [
    LIST_ID,
    OpenApiParameter(
        "format",
        {"type": "string", "enum": [name.value for name in DownloadFormat]},
        description="CSV for spreadsheets, or JSON Lines with the whole results. Defaults to `csv`",
        examples=[named_example("Comma-separated values", "csv")],
    ),
    _FILTER,
    OpenApiParameter(
        "columns",
        {"type": "string"},
        description="More columns for a CSV file, separated by commas: fields of a result, as in "
        "`canonical,checks.role_account`",
        examples=[named_example("Two more columns", "canonical,checks.role_account")],
    ),
    OpenApiParameter(
        "partial",
        {"type": "string", "enum": ["true", "false"]},
        description="`true` to download a list that isn't completed. Rows that weren't checked "
        "have no result",
        examples=[named_example("Results so far", "true")],
    ),
]
