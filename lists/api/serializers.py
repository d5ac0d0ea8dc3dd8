from django.conf import settings
from drf_spectacular.utils import extend_schema_field

from apikeys.rest import fields
from apikeys.rest.serializers import ApiSerializer
from lists.api.examples import COMPLETED_EXAMPLE, LIST_ID_EXAMPLE
from lists.api.waiting import MAX_SECONDS
from lists.models.lists import Dedupe
from lists.models.states import ListState
from lists.uploads.options import MAX_COLUMN, MAX_CREDITS, MAX_NAME_LENGTH
from validation.models import Check

_MAX_PRICE = (
    "1 credit, or 2 if its mail server is asked" if settings.PROBE_MAILBOX_CHECKS else "1 credit"
)
# Requests that create or start a list take these.
ENCODING_FIELD = fields.String(
    "Only for text files: the encoding, such as `utf-8` or `windows-1252`. It outweighs the "
    "`charset` of the content type. By default, this is found out. At the start, it can be changed "
    "for 24 hours, unless `encoding_confidence` in the preview is `certain`",
    required=False,
    max_length=40,
    check_length=False,
    example=("Cyrillic", "windows-1251"),
)
EXTRACT_FIELD = fields.Boolean(
    "Check the address in cells such as `Jane <jane@shop.example>`, and the first of several. The "
    "preview's `extractable` counts these cells. Defaults to false, or to your earlier choice",
    required=False,
    source="extracts_addresses",
    example=("Cells with names", True),
)
MAX_CREDITS_FIELD = fields.Integer(
    "Don't start if the list can cost more",
    required=False,
    allow_null=True,
    min_value=1,
    max_value=MAX_CREDITS,
    example=("A limit", 5000),
)
# Where mailbox checks are on.
CHECK_FIELD = fields.Choice(
    "`mailbox` also asks mail servers whether the mailboxes exist, at their pace, which can take "
    "hours. An address then costs up to 2 credits. Defaults to `dns`, or to your earlier choice",
    list(Check),
    required=False,
    example=("Ask mail servers", "mailbox"),
)
METADATA_FIELD = fields.StringMap(
    "Up to 20 names with texts of your own. In a query, as in `metadata[campaign]=spring`",
    child=fields.String(max_length=500, allow_blank=True),
    required=False,
    example=("A campaign", {"campaign": "spring"}),
)


@extend_schema_field({"type": "string", "pattern": "^lst_[A-Za-z0-9]{20}$"})
class ListId(fields.String):
    pass


class ListsQuery(ApiSerializer):
    limit = fields.Integer(
        "Number of lists on a page. Defaults to 20",
        min_value=1,
        max_value=100,
        example=("A page of ten lists", 10),
    )
    starting_after = ListId(
        "`next` of the page before, which is the ID of its last list",
        example=("The next page of lists", LIST_ID_EXAMPLE),
    )
    state = fields.String(
        "Only lists in these states, separated by commas",
        example=("Lists in progress", "queued,running"),
    )


class WaitQuery(ApiSerializer):
    wait = fields.Integer(
        "Seconds to wait for another state, if the list is parsing, queued, running or rechecking. "
        "Defaults to 0",
        min_value=0,
        max_value=MAX_SECONDS,
        example=("Long polling", 20),
    )


class ListErrorSerializer(ApiSerializer):
    code = fields.String("Stable code of what went wrong")
    message = fields.String("Explanation for people. The wording may change")


class ListCountsSerializer(ApiSerializer):
    rows = fields.Count("Number of rows, without the header")
    empty = fields.Count("Rows whose cell is empty. Free")
    not_address = fields.Count("Rows whose cell has text without an @. Free")
    bad_syntax = fields.Count("Rows whose cell is no valid address. They are undeliverable")
    duplicates = fields.Count("Rows that repeat an earlier row's address. Free")
    addresses = fields.Count(f"Distinct addresses, each of which costs at most {_MAX_PRICE}")


class ListProgressSerializer(ApiSerializer):
    rows_read = fields.Count("Rows of the file that were read so far")
    domains_checked = fields.Count("Domains that were looked up, which comes before the addresses")
    domains_total = fields.Count("Distinct domains to look up")
    checked = fields.Count("Distinct addresses with a result")
    total = fields.Count("Distinct addresses")
    if settings.PROBE_MAILBOX_CHECKS:
        mailboxes_checked = fields.Count("Addresses whose mail server has answered")
        mailboxes_total = fields.Count(
            "Addresses whose mail server is asked, after all domains were looked up"
        )
    percent = fields.Integer("Share of the work that is done", min_value=0, max_value=100)
    seconds_left = fields.Count(
        "Estimated seconds until each address has a result. Null while the speed isn't known",
        allow_null=True,
    )
    rechecks = fields.Count("How often unknown addresses were checked again")
    recheck_at = fields.DateTime(
        "When unknown addresses are checked again, if they are", allow_null=True
    )
    rechecks_end_at = fields.DateTime(
        "When the last check of unknown addresses is due, if there is one", allow_null=True
    )


class ListCreditsSerializer(ApiSerializer):
    at_most = fields.Count(
        "The most the list can cost. Null until its rows are counted", allow_null=True
    )
    held = fields.Count("Credits held for the rest of the list")
    charged = fields.Count("Credits charged so far")


class ListVerdictsSerializer(ApiSerializer):
    deliverable = fields.Count("Number of deliverable addresses so far")
    risky = fields.Count("Number of risky addresses so far")
    undeliverable = fields.Count("Number of undeliverable addresses so far")
    unknown = fields.Count("Number of unknown addresses so far")


class AddressListSerializer(ApiSerializer):
    id = fields.String("List ID (`lst_…`)")
    name = fields.String("The name you gave it, or the file's")
    state = fields.Choice("Where the list is", ListState)
    error = ListErrorSerializer(
        allow_null=True, help_text="Why the list failed, was paused by us, or didn't start"
    )
    counts = ListCountsSerializer(
        allow_null=True, help_text="What the list contains. Null until its rows are counted"
    )
    progress = ListProgressSerializer(help_text="How far the list is")
    verdicts = ListVerdictsSerializer(help_text="Counts of distinct addresses by verdict, so far")
    reasons = fields.Object("Counts of distinct addresses by `reason`, so far")
    safe_to_send = fields.Count("Distinct addresses whose `safe_to_send` is true, so far")
    credits = ListCreditsSerializer(help_text="What the list costs")
    bytes = fields.Count("Size of the upload")
    column = fields.Count(
        "The column with the addresses, counted from 0. Null until one is chosen", allow_null=True
    )
    header = fields.Boolean(
        "Whether the first row is a header. Null if not known yet", allow_null=True
    )
    if settings.PROBE_MAILBOX_CHECKS:
        check = fields.Choice("How far addresses are checked", list(Check))
    dedupe = fields.Choice(
        "Which rows are duplicates: the same `address`, the same `mailbox` behind aliases, or none "
        "(`off`)",
        Dedupe.values,
    )
    recheck_unknown = fields.Boolean(
        "Whether unknown addresses are checked again before the list completes"
    )
    metadata = fields.StringMap("The metadata that you gave the list")
    created_at = fields.DateTime("Creation time in UTC")
    started_at = fields.DateTime("When it was started", allow_null=True)
    results_at = fields.DateTime("When each address had a result", allow_null=True)
    finished_at = fields.DateTime("When it was completed, canceled or failed", allow_null=True)
    expires_at = fields.DateTime("When its rows and results are deleted", allow_null=True)


class AddressListPageSerializer(ApiSerializer):
    # `data` is an attribute of serializers.
    vars()["data"] = AddressListSerializer(many=True, help_text="The lists, newest first")
    has_more = fields.Boolean("Whether there are more")
    next = fields.String(
        "Send it as `starting_after` to get the next page. Null on the last page", allow_null=True
    )

    examples = {"A page": {"data": [COMPLETED_EXAMPLE], "has_more": False, "next": None}}


class DeletedAddressListSerializer(ApiSerializer):
    id = fields.String("ID of the list")
    deleted = fields.Boolean("Always true")

    examples = {"Deleted": {"id": LIST_ID_EXAMPLE, "deleted": True}}


class ListChangesSerializer(ApiSerializer):
    name = fields.String(
        "A new name", required=False, max_length=MAX_NAME_LENGTH, check_length=False
    )
    metadata = METADATA_FIELD

    examples = {"A new name": {"name": "Customers in spring"}}


class ListStartSerializer(ApiSerializer):
    column = fields.Integer(
        "The column with the addresses, counted from 0. If it isn't the list's current column, the "
        "rows are counted again before the list starts",
        required=False,
        allow_null=True,
        min_value=0,
        max_value=MAX_COLUMN,
    )
    encoding = ENCODING_FIELD
    extract = EXTRACT_FIELD
    if settings.PROBE_MAILBOX_CHECKS:
        check = CHECK_FIELD
    max_credits = MAX_CREDITS_FIELD
    confirm = fields.Boolean(
        "Start even if over half of the cells in the column are not addresses, or the encoding is "
        "unsure",
        required=False,
    )

    examples = {"A price limit": {"max_credits": 50_000}}


class SampleShareSerializer(ApiSerializer):
    share = fields.Share("Share of the sample, from 0 to 1")
    low = fields.Share("Lower end of the 95% confidence interval")
    high = fields.Share("Upper end of the 95% confidence interval")


class SampleSharesSerializer(ApiSerializer):
    deliverable = SampleShareSerializer(help_text="Share of deliverable addresses")
    risky = SampleShareSerializer(help_text="Share of risky addresses")
    undeliverable = SampleShareSerializer(help_text="Share of undeliverable addresses")
    unknown = SampleShareSerializer(help_text="Share of unknown addresses")


class ListSampleSerializer(ApiSerializer):
    size = fields.Count("Number of addresses in the sample")
    created_at = fields.DateTime("When the sample was taken, in UTC")
    shares = SampleSharesSerializer(help_text="Shares by verdict")
    bounce_rate = SampleShareSerializer(
        help_text="Projected share of emails to the list that bounce, as far as the DNS can tell: "
        "undeliverable addresses among those with a definite verdict. Mailboxes that don't exist "
        "come on top"
    )

    examples = {
        "A sample": {
            "size": 200,
            "created_at": "2026-11-20T18:30:40.333Z",
            "shares": {
                "deliverable": {"share": 0.76, "low": 0.6964, "high": 0.8139},
                "risky": {"share": 0.125, "low": 0.0861, "high": 0.178},
                "undeliverable": {"share": 0.105, "low": 0.0697, "high": 0.1552},
                "unknown": {"share": 0.01, "low": 0.0027, "high": 0.0357},
            },
            "bounce_rate": {"share": 0.1061, "low": 0.0704, "high": 0.1567},
        }
    }
