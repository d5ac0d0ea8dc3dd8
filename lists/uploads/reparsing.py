"""Parse a list again if its column or its encoding was guessed wrong."""

from collections.abc import Mapping

from django.utils import timezone

from apikeys.errors import ApiError
from lists.deletion.batch_delete import MAX_UPLOAD_TIME
from lists.files.text_encoding import Confidence, find_known_encoding
from lists.models import AddressList
from lists.models.states import ListState
from lists.previews import StoredPreview
from lists.uploads.limits import count_column_change
from lists.uploads.options import describe_missing_column


def parse_again(
    address_list: AddressList,
    changes: Mapping[str, object],
    *,
    column: int | None = None,
    encoding: str = "",
    extracts_addresses: bool | None = None,
) -> bool:
    """Parse a list again if a choice differs from how it was parsed."""
    parsed, file = address_list.parsed, StoredPreview.of(address_list).file
    chosen: dict[str, object] = {}
    if column is not None and column != address_list.column:
        columns = max(parsed.width, len(file.header))
        if column >= columns:
            message = describe_missing_column(column, columns)
            raise ApiError("invalid_field", message, param="column", details={"columns": columns})
        chosen["column"] = column
    if extracts_addresses not in {None, address_list.extracts_addresses}:
        chosen["extracts_addresses"] = extracts_addresses
    # Other files than text have no choice.
    if encoding and file.kind == "text" and encoding != find_known_encoding(file.encoding):
        is_late = address_list.updated_at < timezone.now() - MAX_UPLOAD_TIME
        is_deleted = is_late or file.encoding_confidence == Confidence.CERTAIN
        # A rerun has no file either.
        if is_deleted or not address_list.parts.exists():
            message = "The file was deleted after it was read. Upload it again with this encoding."
            raise address_list.invalid_state(message, "encoding")
        chosen["encoding"] = encoding
        parsed.delete()
    if not chosen:
        return False
    count_column_change(address_list)
    address_list.change_state(ListState.PARSING, rows=0, **chosen, **changes)
    return True


def refuse_unconfirmed(address_list: AddressList, encoding: str) -> None:
    """Raise if this may be the wrong column, or encoding unless the customer chose it."""
    if address_list.needs_confirmation:
        counts = {"rows": address_list.rows, "not_address": address_list.not_address}
        raise ApiError("confirmation_required", param="column", details=counts)
    file = StoredPreview.of(address_list).file
    if not encoding and file.encoding_confidence == Confidence.UNSURE:
        message = (
            "We aren't sure about the encoding of the file. Look at its rows in the preview, then "
            "choose the encoding or confirm."
        )
        details = {"encoding": file.encoding}
        raise ApiError("confirmation_required", message, param="encoding", details=details)
