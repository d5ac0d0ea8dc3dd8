"""Describe lists and their rows for the OpenAPI schema. These serializers validate nothing."""

from rest_framework import serializers

from validation.engine.verdicts.reasons import Verdict
from validation.lists.payloads import RowKind
from validation.lists.uploads.options import MAX_COLUMN
from validation.models.list_states import State
from validation.models.lists import Dedupe
from validation.results.serializers import Described, ResultSerializer


class ListErrorSerializer(Described):
    code = serializers.CharField(help_text="Stable code of what went wrong")
    message = serializers.CharField(help_text="Explanation for people. The wording may change")


class ListCountsSerializer(Described):
    rows = serializers.IntegerField(min_value=0, help_text="Number of rows, without the header")
    empty = serializers.IntegerField(min_value=0, help_text="Rows whose cell is empty. Free")
    not_address = serializers.IntegerField(
        min_value=0, help_text="Rows whose cell has text without an @. Free"
    )
    bad_syntax = serializers.IntegerField(
        min_value=0, help_text="Rows whose cell is no valid address. They are undeliverable"
    )
    duplicates = serializers.IntegerField(
        min_value=0, help_text="Rows that repeat an earlier row's address. Free"
    )
    addresses = serializers.IntegerField(
        min_value=0, help_text="Distinct addresses, each of which costs at most 1 credit"
    )


class ListProgressSerializer(Described):
    checked = serializers.IntegerField(min_value=0, help_text="Distinct addresses with a result")
    total = serializers.IntegerField(min_value=0, help_text="Distinct addresses")
    percent = serializers.IntegerField(
        min_value=0, max_value=100, help_text="Share of checked addresses, rounded down"
    )
    seconds_left = serializers.IntegerField(
        allow_null=True,
        min_value=0,
        help_text="Estimated seconds until each address has a result. Null unless the list is "
        "running",
    )
    rechecks = serializers.IntegerField(
        min_value=0, help_text="How often unknown addresses were checked again"
    )
    recheck_at = serializers.DateTimeField(
        allow_null=True, help_text="When unknown addresses are checked again, if they are"
    )


class ListCreditsSerializer(Described):
    at_most = serializers.IntegerField(
        allow_null=True,
        min_value=0,
        help_text="The most the list can cost. Null until its rows are counted",
    )
    held = serializers.IntegerField(min_value=0, help_text="Credits held for the rest of the list")
    charged = serializers.IntegerField(min_value=0, help_text="Credits charged so far")


def _build_verdicts_serializer() -> type[Described]:
    fields = {
        verdict.value: serializers.IntegerField(
            min_value=0, help_text=f"Number of {verdict.value} addresses so far"
        )
        for verdict in Verdict
    }
    return type("ListVerdictsSerializer", (serializers.Serializer,), fields)


ListVerdictsSerializer = _build_verdicts_serializer()


class ListSerializer(Described):
    id = serializers.CharField(help_text="List ID (`lst_…`)")
    name = serializers.CharField(help_text="The name you gave it, or the file's")
    state = serializers.ChoiceField([state.value for state in State], help_text="Where the list is")
    error = ListErrorSerializer(
        allow_null=True, help_text="Why the list failed, was paused by us, or didn't start"
    )
    counts = ListCountsSerializer(
        allow_null=True, help_text="What the list contains. Null until its rows are counted"
    )
    progress = ListProgressSerializer(help_text="How far the list is")
    verdicts = ListVerdictsSerializer(help_text="Counts of distinct addresses by verdict, so far")
    credits = ListCreditsSerializer(help_text="What the list costs")
    bytes = serializers.IntegerField(min_value=0, help_text="Size of the upload")
    column = serializers.IntegerField(
        allow_null=True,
        min_value=0,
        help_text="The column with the addresses, counted from 0. Null until one is chosen",
    )
    header = serializers.BooleanField(
        allow_null=True, help_text="Whether the first row is a header. Null if not known yet"
    )
    dedupe = serializers.ChoiceField(
        Dedupe.values,
        help_text="Which rows are duplicates: the same `address`, the same `mailbox` behind "
        "aliases, or none (`off`)",
    )
    recheck_unknown = serializers.BooleanField(
        help_text="Whether unknown addresses are checked again before the list completes"
    )
    metadata = serializers.DictField(
        child=serializers.CharField(), help_text="The metadata that you gave the list"
    )
    created_at = serializers.DateTimeField(help_text="Creation time in UTC")
    started_at = serializers.DateTimeField(allow_null=True, help_text="When it was started")
    finished_at = serializers.DateTimeField(
        allow_null=True, help_text="When it was completed, canceled or failed"
    )
    expires_at = serializers.DateTimeField(
        allow_null=True, help_text="When its rows and results are deleted"
    )


class ListPageSerializer(Described):
    # `data` is an attribute of serializers.
    vars()["data"] = ListSerializer(many=True, help_text="The lists, newest first")
    has_more = serializers.BooleanField(
        help_text="Whether there are more. Send the last ID as `starting_after`"
    )


class DeletedListSerializer(Described):
    id = serializers.CharField(help_text="ID of the list")
    deleted = serializers.BooleanField(help_text="Always true")


class ListStartSerializer(Described):
    column = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=0,
        max_value=MAX_COLUMN,
        help_text="The column with the addresses, counted from 0. If it isn't the list's current "
        "column, the rows are counted again before the list starts",
    )
    max_credits = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=2**53 - 1,
        help_text="Don't start if the list can cost more",
    )
    confirm = serializers.BooleanField(
        required=False,
        help_text="Start even if over half of the cells in the column are not addresses",
    )


# Those that a single result has and a row of a list doesn't.
NOT_IN_LISTS = ("id", "created_at", "sandbox", "duration_ms", "dns_cached", "credits")


def _build_row_result_serializer() -> type[Described]:
    without = dict.fromkeys(NOT_IN_LISTS)
    return type("ListResultSerializer", (ResultSerializer,), without)


ListResultSerializer = _build_row_result_serializer()


class ListRowSerializer(Described):
    row = serializers.IntegerField(
        min_value=1, help_text="Number of the row, counted from 1 without the header"
    )
    kind = serializers.ChoiceField(
        [kind.name.lower() for kind in RowKind], help_text="What the row's cell contains"
    )
    duplicate_of = serializers.IntegerField(
        allow_null=True, min_value=1, help_text="Number of the row whose result a duplicate repeats"
    )
    result = ListResultSerializer(
        allow_null=True,
        help_text="The result. Null for rows without an address, and until the row is checked",
    )


class ListResultsSerializer(Described):
    # `data` is an attribute of serializers.
    vars()["data"] = ListRowSerializer(many=True, help_text="The matching rows, in their order")
    has_more = serializers.BooleanField(help_text="Whether there are rows behind this page")
    next = serializers.IntegerField(
        allow_null=True,
        min_value=0,
        help_text="Send it as `starting_after` to get the next page, even if this one is short or "
        "empty. Null on the last page",
    )
    state = serializers.ChoiceField(
        [state.value for state in State],
        help_text="State of the list. Unless it's `completed`, results can be missing",
    )


class PreviewColumnSerializer(Described):
    index = serializers.IntegerField(min_value=0, help_text="Number of the column, from 0")
    name = serializers.CharField(help_text="Its name in the header, or an empty string")
    evidence = serializers.CharField(help_text="How many of its first cells are addresses")


class DomainShareSerializer(Described):
    domain = serializers.CharField(help_text="A domain in ASCII")
    share = serializers.FloatField(min_value=0, max_value=1, help_text="Its share of addresses")


class PreviewSharesSerializer(Described):
    disposable = serializers.FloatField(
        min_value=0, max_value=1, help_text="Share of addresses of disposable providers"
    )
    free_provider = serializers.FloatField(
        min_value=0, max_value=1, help_text="Share of addresses of free providers"
    )
    role_account = serializers.FloatField(
        min_value=0, max_value=1, help_text="Share of role accounts, such as info or sales"
    )
    top_domains = DomainShareSerializer(many=True, help_text="The most frequent domains")


class PreviewPriceSerializer(Described):
    at_most = serializers.IntegerField(
        min_value=0, help_text="The most that the list can cost, in credits"
    )


class ListPreviewSerializer(Described):
    format = serializers.ChoiceField(
        ["text", "xlsx", "json"], help_text="How the file was read: `text` is CSV, TSV and the like"
    )
    encoding = serializers.CharField(help_text="Encoding of the text")
    delimiter = serializers.CharField(
        allow_null=True, help_text="Character between cells. Null for one address per line"
    )
    header = serializers.ListField(
        child=serializers.CharField(allow_blank=True),
        allow_null=True,
        help_text="The first row, if it is a header",
    )
    first_rows = serializers.ListField(
        child=serializers.ListField(child=serializers.CharField(allow_blank=True)),
        help_text="Up to 20 rows behind the header. Long cells are cut",
    )
    column = serializers.IntegerField(
        allow_null=True, min_value=0, help_text="The column whose cells are validated, from 0"
    )
    guessed_column = serializers.IntegerField(
        allow_null=True,
        min_value=0,
        help_text="The column that looks most like addresses. Null if none does",
    )
    columns = PreviewColumnSerializer(many=True, help_text="All columns, up to 200")
    counts = ListCountsSerializer(help_text="What the column contains")
    shares = PreviewSharesSerializer(
        allow_null=True, help_text="Shares of the valid addresses, from 0 to 1"
    )
    price = PreviewPriceSerializer(help_text="The price. Unknown results are free")


class SampleShareSerializer(Described):
    share = serializers.FloatField(
        min_value=0, max_value=1, help_text="Share of the sample, from 0 to 1"
    )
    low = serializers.FloatField(
        min_value=0, max_value=1, help_text="Lower end of the 95% confidence interval"
    )
    high = serializers.FloatField(
        min_value=0, max_value=1, help_text="Upper end of the 95% confidence interval"
    )


def _build_shares_serializer() -> type[Described]:
    fields = {
        verdict.value: SampleShareSerializer(help_text=f"Share of {verdict.value} addresses")
        for verdict in Verdict
    }
    return type("SampleSharesSerializer", (serializers.Serializer,), fields)


SampleSharesSerializer = _build_shares_serializer()


class ListSampleSerializer(Described):
    size = serializers.IntegerField(min_value=0, help_text="Number of addresses in the sample")
    created_at = serializers.DateTimeField(help_text="When the sample was taken, in UTC")
    shares = SampleSharesSerializer(help_text="Shares by verdict")
