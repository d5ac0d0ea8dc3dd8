"""Parse an uploaded list: store its rows in chunks, and find out what it can cost at most.

A process that claimed the list parses it as a whole. If the process dies, the lease ends and
another one starts over. Errors of the database or disk are left to the caller: the list stays in
its state, and is parsed again once the lease has ended.
"""

from django.db import transaction

from credits.plans.list_limits import list_limits
from runtime.database.heartbeat import Heartbeat
from validation.addresses import address_hash
from validation.domain_data import staff_domains
from validation.lists.deletion import storage
from validation.lists.files.errors import UnreadableFile
from validation.lists.files.preview import Preview, PreviewCounter
from validation.lists.payloads import Rows
from validation.lists.transitions import change_state
from validation.lists.uploads import limits
from validation.lists.uploads.deduplication import Classified, Deduplicator
from validation.lists.uploads.previews import StoredPreview
from validation.lists.uploads.sources import Source, Table, open_source
from validation.models import (
    AddressList,
    ErasedAddress,
    ListChunk,
    ListUpload,
)
from validation.models.list_states import State

MAX_ATTEMPTS = 5
_FAILED = (
    "We couldn't read the list because of an error on our side. Upload it again, or contact"
    " support if this happens again."
)


class LeaseLost(Exception):
    """Another process parses the list, or it was canceled or deleted."""


class ListRejected(Exception):
    """The list can't be used. `message` is for the customer."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code)
        self.code, self.message = code, message


def parse_list(address_list: AddressList) -> None:
    """Parse a list that the caller has claimed, which makes it ready or failed."""
    try:
        if address_list.attempts > MAX_ATTEMPTS:
            raise ListRejected("parsing_failed", _FAILED)
        with Heartbeat(address_list) as heartbeat:
            _Parser(address_list, heartbeat).run()
    except (UnreadableFile, ListRejected) as error:
        _fail(address_list, error.code, error.message)
    except LeaseLost:
        return


def _fail(address_list: AddressList, code: str, message: str) -> None:
    with transaction.atomic():
        if not address_list.lock_if_held():
            return
        change_state(address_list, State.FAILED, error_code=code, error_message=message[:300])
    storage.delete_content(address_list)


class _Parser:
    def __init__(self, address_list: AddressList, heartbeat: Heartbeat) -> None:
        self._list = address_list
        self._heartbeat = heartbeat
        self._limit = list_limits(address_list.account).addresses
        self._erased = ErasedAddress.objects.digests_for(address_list)
        self._chunks = self._duplicates = self._addresses = 0

    def run(self) -> None:
        self._discard_last_attempt()
        with open_source(self._list) as source:
            column = self._choose_column(source)
            counter = PreviewCounter(column, staff_domains=staff_domains.current())
            self._store_chunks(source, counter, column)
            counts = counter.result()
        if not counts.rows:
            raise UnreadableFile("no_rows")
        preview = StoredPreview.build(source.file, source.guess, counts)
        self._finish(counts, preview, column)
        storage.delete_parts(self._list)

    def _discard_last_attempt(self) -> None:
        if self._list.was_parsed:
            storage.delete_facts(self._list)
        else:
            storage.delete_rows(self._list)

    def _choose_column(self, source: Source) -> int:
        """Return the customer's column, or the best guess. The preview shows how good it is."""
        if self._list.column is not None:
            return self._list.column
        best = source.guess.address_column
        if best is None:
            columns = source.guess.columns
            best = max(columns, key=lambda column: column.addresses, default=None)
        return best.index if best else 0

    def _store_chunks(self, source: Source, counter: PreviewCounter, column: int) -> None:
        deduplicator = Deduplicator(self._list)
        rows = 0
        for cells in source.chunks:
            if self._heartbeat.is_lost:
                raise LeaseLost
            self._empty_erased(cells, column)
            parsed = counter.add(cells)
            if self._addresses <= self._limit:
                found = deduplicator.classify(parsed, rows)
                self._store(cells, found, is_new=not source.is_stored)
            rows += len(cells)
        if self._addresses > self._limit:
            raise ListRejected("list_too_large", self._explain_size(rows))

    def _empty_erased(self, cells: Table, column: int) -> None:
        """Empty the rows of addresses that were erased since the upload began."""
        if not self._erased:
            return
        for row in cells:
            if column < len(row) and address_hash(row[column]) in self._erased:
                row.clear()

    def _store(self, cells: Table, found: Classified, *, is_new: bool) -> None:
        packed = Rows(cells, found.kinds, found.originals).pack()
        with self._heartbeat.paused(), transaction.atomic():
            if not self._list.lock_if_held():
                raise LeaseLost
            if is_new:
                ListChunk.objects.create(list=self._list, number=self._chunks, rows=packed)
            else:
                chunks = ListChunk.objects.filter(list=self._list, number=self._chunks)
                chunks.update(rows=packed)
            found.store()
        self._chunks += 1
        self._duplicates += found.duplicates
        self._addresses += found.to_check

    def _explain_size(self, rows: int) -> str:
        return (
            f"The list has {rows:,} rows with more than {self._limit:,} different addresses, your"
            " limit per list. Split the list, or upgrade your plan."
        )

    def _finish(self, counts: Preview, preview: StoredPreview, column: int) -> None:
        with self._heartbeat.paused(), transaction.atomic():
            if not self._list.lock_if_held():
                raise LeaseLost
            self._check_day()
            ListUpload.objects.filter(list=self._list).update(addresses=self._addresses)
            change_state(
                self._list,
                State.READY,
                column=column,
                has_header=preview.file.has_header,
                preview=preview.pack(),
                rows=counts.rows,
                empty=counts.empty,
                not_address=counts.not_address,
                bad_syntax=counts.bad_syntax,
                duplicates=self._duplicates,
                addresses=self._addresses,
            )

    def _check_day(self) -> None:
        limit = limits.find_daily_excess(self._list.account, self._list, self._addresses)
        if limit is not None:
            message = (
                f"You can upload up to {limit:,} addresses in 24 hours. Upload the list again"
                " later, or upgrade your plan."
            )
            raise ListRejected("rate_limit_exceeded", message)
