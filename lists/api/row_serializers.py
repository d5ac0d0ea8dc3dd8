from apikeys.rest import fields
from apikeys.rest.serializers import ApiSerializer
from lists.models.states import ListState
from lists.packing import RowKind
from lists.results.downloads import EXTRA_COLUMNS, DownloadFormat
from lists.results.reading import ResultFilter
from validation.results.sample_results import sandbox_result
from validation.results.serializers import ResultSerializer

_FILTER = fields.Choice(
    "Only rows with this verdict, or `safe` for those whose `safe_to_send` is true. Defaults to "
    "`all`",
    ResultFilter,
    example=("Deliverable addresses", "deliverable"),
)


class ResultsQuery(ApiSerializer):
    filter = _FILTER
    limit = fields.Integer(
        "Number of rows on a page. Defaults to 100",
        min_value=1,
        max_value=1000,
        example=("A page of ten rows", 10),
    )
    starting_after = fields.Integer(
        "`next` of the page before: the number of the row behind which this one begins. Defaults "
        "to 0",
        min_value=0,
        max_value=999_999_999,
        example=("The second page of rows", 100),
    )


class DownloadQuery(ApiSerializer):
    format = fields.Choice(
        "CSV, Excel's XLSX, or JSON Lines with the whole results. Defaults to `csv`",
        DownloadFormat,
        example=("Comma-separated values", "csv"),
    )
    filter = _FILTER
    columns = fields.String(
        "More columns for CSV and XLSX, separated by commas: "
        + ", ".join(f"`{name}`" for name in EXTRA_COLUMNS),
        example=("Two more columns", "canonical,checks.role_account"),
    )
    formulas = fields.Choice(
        "For CSV only. `defuse` puts an apostrophe before text that a spreadsheet could run as a "
        "formula. Numbers and phone numbers stay as they are. `keep` changes nothing. Defaults to "
        "`defuse`",
        ("defuse", "keep"),
        example=("For another program than a spreadsheet", "keep"),
    )
    # `partial` is an attribute of serializers.
    vars()["partial"] = fields.Choice(
        "`true` to download the results so far. Rows that weren't checked have no result",
        ("true", "false"),
        example=("Results so far", "true"),
    )


NOT_IN_LISTS = ("id", "created_at", "sandbox", "duration_ms", "dns_cached", "credits")


ListResultSerializer = type(
    "ListResultSerializer", (ResultSerializer,), dict.fromkeys(NOT_IN_LISTS)
)


class ListRowSerializer(ApiSerializer):
    row = fields.Integer("Number of the row, counted from 1 without the header", min_value=1)
    kind = fields.Choice("What the row's cell contains", [kind.name.lower() for kind in RowKind])
    duplicate_of = fields.Integer(
        "Number of the row whose result a duplicate repeats", allow_null=True, min_value=1
    )
    result = ListResultSerializer(
        allow_null=True,
        help_text="The result. Null for rows without an address, and until the row is checked",
    )


def _row_example(number: int) -> dict[str, object]:
    result = {
        name: value
        for name, value in sandbox_result("deliverable").items()
        if name not in NOT_IN_LISTS
    }
    return {"row": number, "kind": "address", "duplicate_of": None, "result": result}


class ListResultsSerializer(ApiSerializer):
    # `data` is an attribute of serializers.
    vars()["data"] = ListRowSerializer(many=True, help_text="The matching rows, in their order")
    has_more = fields.Boolean("Whether there are more")
    next = fields.Count(
        "Send it as `starting_after` to get the next page, even if this one is short or "
        "empty. Null on the last page",
        allow_null=True,
    )
    state = fields.Choice(
        "State of the list. Rows that weren't checked yet have no result", ListState
    )

    examples = {
        "Three rows": {
            "data": [
                _row_example(1),
                {"row": 2, "kind": "empty", "duplicate_of": None, "result": None},
                _row_example(3) | {"kind": "duplicate", "duplicate_of": 1},
            ],
            "has_more": False,
            "next": None,
            "state": "completed",
        }
    }
