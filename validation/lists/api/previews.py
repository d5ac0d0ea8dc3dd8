"""GET /v1/lists/{id}/preview: what is known about a list without the DNS."""

from apikeys.request import ApiRequest
from apikeys.rest.responses import ApiResponse, json_response
from apikeys.rest.schema import describe
from validation.lists.api.base import LIST_ERRORS, ListView, refuse_without_preview
from validation.lists.api.documents import counts_document
from validation.lists.api.examples import PREVIEW_EXAMPLE
from validation.lists.api.schema import LIST_ID
from validation.lists.api.serializers import ListPreviewSerializer
from validation.lists.uploads.previews import StoredPreview
from validation.models import AddressList

# Shares of fewer addresses would say something about single ones.
MIN_ADDRESSES_FOR_SHARES = 100


class PreviewView(ListView):
    @describe(
        "preview-list",
        "Preview a list",
        "Returns what is known about a list before it costs anything: its first rows, the column "
        "with the addresses, counts, and the price, which is the most that the list can cost. "
        "Shares are null for lists with fewer than 100 distinct addresses.",
        ListPreviewSerializer,
        tag="Lists",
        parameters=[LIST_ID],
        examples={"A file with a header": PREVIEW_EXAMPLE},
        refusals=(*LIST_ERRORS, "invalid_state", "list_expired"),
    )
    def get(self, request: ApiRequest, list_id: str) -> ApiResponse:
        refuse_without_preview(self.address_list)
        return json_response(preview_document(self.address_list))


def preview_document(address_list: AddressList) -> dict[str, object]:
    preview = StoredPreview.unpack(bytes(address_list.preview))
    file = preview.file
    return {
        "format": file.kind,
        "encoding": file.encoding,
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
        "shares": _shares(address_list, preview),
        "price": {"at_most": address_list.addresses},
    }


def _shares(address_list: AddressList, preview: StoredPreview) -> dict[str, object] | None:
    """Return shares of all valid addresses, repeated ones included."""
    if address_list.addresses < MIN_ADDRESSES_FOR_SHARES or not preview.valid:
        return None
    return {
        "disposable": round(preview.disposable / preview.valid, 4),
        "free_provider": round(preview.free_provider / preview.valid, 4),
        "role_account": round(preview.role_account / preview.valid, 4),
        "top_domains": [
            {"domain": domain, "share": round(count / preview.valid, 4)}
            for domain, count in preview.top_domains
        ],
    }
