from dataclasses import asdict

from django.conf import settings

from apikeys.request import ApiRequest
from apikeys.rest import fields
from apikeys.rest.responses import ApiResponse, json_response
from apikeys.rest.serializers import ApiSerializer
from lists.api.base import ListView, describe_list, refuse_unread
from lists.api.documents import counts_document
from lists.api.examples import RUNNING_EXAMPLE
from lists.api.serializers import ListCountsSerializer, SampleShareSerializer
from lists.files.text_encoding import Confidence
from lists.models import AddressList, ListSample
from lists.previews import StoredPreview
from lists.results.sample import bounce_rate_of


class PreviewColumnSerializer(ApiSerializer):
    index = fields.Count("Number of the column, from 0")
    name = fields.String("Its name in the header, or an empty string")
    evidence = fields.String("How many of its first cells have an address")


class DomainShareSerializer(ApiSerializer):
    domain = fields.String("A domain in ASCII")
    share = fields.Share("Its share of addresses")


class PreviewSharesSerializer(ApiSerializer):
    disposable = fields.Share("Share of addresses of disposable providers")
    free_provider = fields.Share("Share of addresses of free providers")
    role_account = fields.Share("Share of role accounts, such as info or sales")
    top_domains = DomainShareSerializer(many=True, help_text="The most frequent domains")


class PreviewPriceSerializer(ApiSerializer):
    at_most = fields.Count("The most that the list can cost, in credits")
    if settings.PROBE_MAILBOX_CHECKS:
        mailbox_at_most = fields.Count("The most with `check: mailbox`")
        mailbox_seconds = fields.Count(
            "How long mail servers take at least with `check: mailbox`. Each organization is asked "
            "about one address per second, so its most frequent domain decides"
        )


class ListPreviewSerializer(ApiSerializer):
    format = fields.Choice(
        "How the file was read: `text` is CSV, TSV and the like", ["text", "xlsx", "json"]
    )
    encoding = fields.String("Encoding with which the text was read. Empty for XLSX")
    encoding_confidence = fields.Choice(
        "How sure the encoding is. UTF-8 and a byte order mark are `certain`. An encoding that you "
        "named, or that clearly fits the text, is `likely`. If it is `unsure`, look at the rows, "
        "and send `encoding` or `confirm` to start the list",
        Confidence,
    )
    delimiter = fields.String(
        "Character between cells. Null for one address per line", allow_null=True
    )
    header = fields.Strings(
        "The first row, if it is a header", child=fields.String(allow_blank=True), allow_null=True
    )
    first_rows = fields.Strings(
        "Up to 20 rows behind the header. Long cells are cut",
        child=fields.Strings(child=fields.String(allow_blank=True)),
    )
    column = fields.Count("The column whose cells are validated, from 0", allow_null=True)
    guessed_column = fields.Count(
        "The column that looks most like addresses. Null if none does", allow_null=True
    )
    columns = PreviewColumnSerializer(many=True, help_text="All columns, up to 200")
    counts = ListCountsSerializer(help_text="What the column contains")
    extractable = fields.Count(
        "Rows with a name and an address, such as `Jane <jane@shop.example>`, or with several "
        "addresses. With `extract`, their (first) address is checked"
    )
    shares = PreviewSharesSerializer(
        allow_null=True, help_text="Shares of the valid addresses, from 0 to 1"
    )
    bounce_rate = SampleShareSerializer(
        allow_null=True, help_text="The projected bounce rate of the list's sample, if it has one"
    )
    price = PreviewPriceSerializer(help_text="The price. Unknown results are free")

    examples = {
        "A file with a header": {
            "format": "text",
            "encoding": "utf-8",
            "encoding_confidence": "certain",
            "delimiter": ";",
            "header": ["id", "name", "email"],
            "first_rows": [["1", "Jane Doe", "jane@shop.example"], ["2", "John Roe", ""]],
            "column": 2,
            "guessed_column": 2,
            "columns": [
                {"index": 0, "name": "id", "evidence": "0% of 999 cells have an address"},
                {"index": 1, "name": "name", "evidence": "0% of 999 cells have an address"},
                {"index": 2, "name": "email", "evidence": "98% of 992 cells have an address"},
            ],
            "counts": RUNNING_EXAMPLE["counts"],
            "extractable": 0,
            "shares": {
                "disposable": 0.0112,
                "free_provider": 0.6203,
                "role_account": 0.0371,
                "top_domains": [{"domain": "mailbox.test", "share": 0.4127}],
            },
            "bounce_rate": {"share": 0.1061, "low": 0.0704, "high": 0.1567},
            "price": {
                "at_most": 48_120,
                **(
                    {"mailbox_at_most": 96_240, "mailbox_seconds": 20_636}
                    if settings.PROBE_MAILBOX_CHECKS
                    else {}
                ),
            },
        }
    }


class PreviewView(ListView):
    @describe_list(
        "preview-list",
        "Preview a list",
        "Returns what is known about a list before it costs anything: its first rows, the column "
        "with the addresses, counts, and the price, which is the most that the list can cost. "
        "Shares are null for lists with fewer than 100 distinct addresses.",
        ListPreviewSerializer,
        refusals=["invalid_state", "list_expired"],
    )
    def get(self, request: ApiRequest, list_id: str) -> ApiResponse:
        address_list = self.address_list
        refuse_unread(address_list)
        if not address_list.was_parsed:
            raise address_list.invalid_state("The list ended before its rows were counted.")
        preview = StoredPreview.of(address_list)
        sample = ListSample.objects.filter(list=address_list, is_done=True).first()
        file, mailboxes = preview.file, {}
        if settings.PROBE_MAILBOX_CHECKS:
            mailboxes = {
                "mailbox_at_most": address_list.mailbox_price,
                "mailbox_seconds": preview.mailbox_seconds,
            }
        document = {
            "format": file.kind,
            "encoding": file.encoding,
            "encoding_confidence": file.encoding_confidence,
            "delimiter": file.delimiter or None,
            "header": file.header if file.has_header else None,
            "first_rows": preview.first_rows,
            "column": address_list.column,
            "guessed_column": preview.guessed_column,
            "columns": [
                {"index": column.index, "name": column.name, "evidence": column.evidence}
                for column in preview.columns
            ],
            "counts": counts_document(address_list),
            "extractable": preview.extractable,
            "shares": _shares(address_list, preview),
            "bounce_rate": asdict(bounce_rate_of(sample)) if sample else None,
            "price": {"at_most": address_list.price, **mailboxes},
        }
        return json_response(document)


def _shares(address_list: AddressList, preview: StoredPreview) -> dict[str, object] | None:
    shares = preview.shares(address_list.addresses)
    if not shares:
        return None
    return {
        **{name: round(share, 4) for name, share in shares.items()},
        "top_domains": [
            {"domain": domain, "share": round(count / preview.valid, 4)}
            for domain, count in preview.top_domains
        ],
    }
