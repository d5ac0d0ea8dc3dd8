"""One process parses a whole list. After a failure, another starts over when the lease ends."""

from django.db import transaction

from apikeys.errors import ApiError
from credits.plans.list_limits import list_limits
from lists.deletion.batch_delete import FACTS, delete_content, delete_rows
from lists.event_types import record_list_event
from lists.files.cells import read_address
from lists.files.errors import UnreadableFile
from lists.files.text_encoding import Confidence
from lists.models import AddressList, ErasedAddress, ListChunk, ListPart, ListUpload, ParsedList
from lists.models.states import ListState
from lists.packing import RowBits, RowKind, Rows
from lists.previews import PreviewCounter, StoredPreview
from lists.uploads.deduplication import Classified, Deduplicator
from lists.uploads.limits import check_day
from lists.uploads.options import describe_missing_column
from lists.uploads.sources import Source, Table, open_source
from runtime.database.leased_rows import Heartbeat
from validation.addresses import address_hash
from validation.domain_data import staff_domains

MAX_ATTEMPTS = 5
# Rows without an address cost nothing, but take time and space.
MAX_ROWS_PER_ADDRESS = 3
_FAILED = (
    "We couldn't read the list because of an error on our side. Upload it again, or contact"
    " support if this happens again."
)


class LeaseLost(Exception):
    """Raised if another process parses the list, or it was canceled or deleted."""


class ListRejected(Exception):
    """Raised if the list can't be used. `message` is for the customer."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code)
        self.code, self.message = code, message


def parse_list(address_list: AddressList) -> None:
    try:
        if address_list.attempts > MAX_ATTEMPTS:
            raise ListRejected("parsing_failed", _FAILED)
        with Heartbeat(address_list) as heartbeat, open_source(address_list) as source:
            _Parser(address_list, heartbeat, source).run()
        # Otherwise, the customer may choose another encoding.
        if source.file.encoding_confidence == Confidence.CERTAIN:
            delete_rows(address_list.pk, ListPart)
    except (ApiError, UnreadableFile, ListRejected) as error:
        with transaction.atomic():
            if not address_list.lock_if_held():
                return
            reason = {"error_code": error.code, "error_message": error.message[:300]}
            if address_list.change_state(ListState.FAILED, rows=0, **reason):
                record_list_event(address_list)
        delete_content(address_list)
    except (LeaseLost, ListPart.DoesNotExist, ParsedList.DoesNotExist):
        return


class _Parser:
    def __init__(self, address_list: AddressList, heartbeat: Heartbeat, source: Source) -> None:
        self._list, self._heartbeat, self._source = address_list, heartbeat, source
        self._limit = list_limits(address_list.account).addresses
        self._erased = ErasedAddress.objects.digests_for(address_list)
        self._deduplicator = Deduplicator(address_list)
        self._rows = self._duplicates = self._addresses = self._sandbox_addresses = 0
        self._width = len(source.file.header)
        self._repeated = RowBits()

    def run(self) -> None:
        # Stored by an earlier attempt, or with another column.
        stored = FACTS if self._source.is_stored else (ListChunk, *FACTS)
        delete_rows(self._list.pk, *stored)
        column = self._list.column
        if column is None:
            column = self._source.guess.best_column
        limit, extracts = self._limit, self._list.extracts_addresses
        counter = PreviewCounter(column, staff_domains.current(), extracts_addresses=extracts)
        for cells in self._source.chunks:
            if self._heartbeat.is_lost:
                raise LeaseLost
            self._width = max(self._width, *map(len, cells))
            # Empty the rows of addresses that were erased since the upload began.
            for row in cells if self._erased else ():
                if address_hash(read_address(row, column, extracts=extracts)) in self._erased:
                    row.clear()
            parsed = counter.add(cells)
            if self._addresses <= limit:
                self._store_chunk(cells, self._deduplicator.classify(parsed, self._rows))
            self._rows += len(cells)
            if self._rows > limit * MAX_ROWS_PER_ADDRESS:
                raise ListRejected(
                    "list_too_large",
                    f"The list has more than {limit * MAX_ROWS_PER_ADDRESS:,} rows,"
                    f" {MAX_ROWS_PER_ADDRESS} times your limit of addresses per list. Split the"
                    " list, or upgrade your plan.",
                )
        if self._addresses > limit:
            raise ListRejected(
                "list_too_large",
                f"The list has {self._rows:,} rows with more than {limit:,} different addresses,"
                " your limit per list. Split the list, or upgrade your plan.",
            )
        if not self._rows:
            raise UnreadableFile("no_rows")
        if column >= self._width and not self._source.is_stored:
            message = describe_missing_column(column, self._width)
            raise ListRejected("column_not_found", f"{message} Then upload the file again.")
        self._finish(counter, column)

    def _store_chunk(self, cells: Table, found: Classified) -> None:
        packed = Rows(cells, found.kinds, found.originals).pack()
        with self._heartbeat.paused(), transaction.atomic():
            if not self._list.lock_if_held():
                raise LeaseLost
            if self._source.is_stored:
                chunks = ListChunk.objects.filter(list=self._list, first_row=self._rows)
                chunks.update(rows=packed)
            else:
                ListChunk.objects.create(
                    list=self._list, first_row=self._rows, row_count=len(cells), rows=packed
                )
            found.store()
            # Shown while the list is parsed.
            read = self._rows + len(cells)
            AddressList.objects.filter(pk=self._list.pk).update(rows=read)
        for row in found.originals:
            self._repeated.add(row)
        self._duplicates += len(found.originals)
        self._addresses += found.kinds.count(RowKind.ADDRESS)
        self._sandbox_addresses += found.sandbox_addresses

    def _finish(self, counter: PreviewCounter, column: int) -> None:
        preview = StoredPreview.build(self._source.file, self._source.guess, counter)
        with self._heartbeat.paused(), transaction.atomic():
            if not self._list.lock_if_held():
                raise LeaseLost
            account, pk = self._list.account, self._list.pk
            check_day(account, "addresses", self._limit, self._addresses, except_list=pk)
            ListUpload.objects.filter(list=self._list).update(addresses=self._addresses)
            ParsedList.objects.update_or_create(
                list=self._list,
                defaults={
                    "preview": preview.pack(),
                    "width": self._width,
                    "repeated": bytes(self._repeated),
                },
            )
            self._list.change_state(
                ListState.READY,
                column=column,
                has_header=preview.file.has_header,
                rows=self._rows,
                empty=counter.counts["empty"],
                not_address=counter.counts["not_address"],
                bad_syntax=counter.counts["bad_syntax"],
                duplicates=self._duplicates,
                addresses=self._addresses,
                sandbox_addresses=self._sandbox_addresses,
                domains=self._deduplicator.domains,
            )
            if not self._list.starts_when_ready:
                record_list_event(self._list)
