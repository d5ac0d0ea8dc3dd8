from collections.abc import Iterable, Mapping
from datetime import timedelta
from functools import cache
from typing import Any

from django.db import models
from django.urls import reverse
from django.utils import timezone

from accounts.models import Account
from apikeys.models import ApiKey
from runtime.database import batches
from runtime.database.raw_sql import SHARED_ROW, BulkInsert, JsonTable, Row
from runtime.dates import to_microseconds
from validation.ids import result_created_at

# The reason of most calls. The index of reasons leaves it out.
COMMON_REASON = "domain_accepts_mail"
# What the entries of a batch don't have in common.
OWN_COLUMNS = ("at", "result_id", "address", "address_hash", "domain")
# The longest time between the creation of a result's id and of its row.
MAX_ROW_DELAY = timedelta(seconds=15)


class LogEntryQuerySet(models.QuerySet["LogEntry"]):
    def retained_for(self, account: Account) -> "LogEntryQuerySet":
        """Return entries within the account's retention. Older ones may exist for up to a day.

        A clock that was wrong may have written entries of later days, which appear on their day.
        Naming the end keeps PostgreSQL out of the default partition, where such entries are: it
        then reads day after day, and stops at the first that fills the page.
        """
        end = timezone.now() + timedelta(days=1)
        return self.filter(account=account, at__gt=account.log_starts_at, at__lt=end)

    def of_batch(self, batch_id: str) -> "LogEntryQuerySet":
        """Find a batch by the time that its id contains, because its id has no index."""
        at = result_created_at(batch_id)
        if at is None:
            return self.none()
        window = (at - timedelta(seconds=1), at + MAX_ROW_DELAY)
        return self.filter(at__range=window, batch_id=batch_id)

    def with_result(self, result_id: str) -> "LogEntryQuerySet":
        """Find a result by the time that its id contains, because its id has no index."""
        at = result_created_at(result_id)
        if at is None:
            return self.none()
        window = (at - timedelta(seconds=1), at + MAX_ROW_DELAY)
        return self.filter(at__range=window, result_id=result_id)

    def bulk_insert(self, entries: Iterable[dict[str, object]]) -> BulkInsert:
        """Return one INSERT for all entries, each a dict of the columns that aren't blank.

        Creating model instances takes longer than writing the rows.
        """
        blank = {**_blank_log_row(), "at": timezone.now()}
        row_format = _log_row_format(*blank)
        rows = [list({**blank, **entry}.values()) for entry in entries]
        return BulkInsert(self.model._meta.db_table, row_format, rows)

    def bulk_insert_sharing(
        self, shared: Mapping[int, dict[str, object]], entries: Iterable[Row]
    ) -> BulkInsert:
        """Do the same for entries of one account that have most of their columns in common.

        Each entry has the values of OWN_COLUMNS, and the number of its other columns in `shared`.
        """
        blank = _blank_log_row().items()
        defaults = {name: value for name, value in blank if name not in OWN_COLUMNS}
        return BulkInsert(
            self.model._meta.db_table,
            _log_row_format(*OWN_COLUMNS, SHARED_ROW),
            [*entries],
            shared_columns=_log_row_format(*defaults, SHARED_ROW),
            shared_rows=[
                [*(defaults | columns).values(), number] for number, columns in shared.items()
            ],
        )

    def delete_in_batches(self) -> int:
        """Delete the rows, newest first, and return their number. Call it outside a transaction.

        Each batch names its times: PostgreSQL would look for an id in the partition of every day.
        """
        total = 0
        while batch := list(self.order_by("-at").values_list("pk", "at")[: batches.BATCH_SIZE]):
            times = (batch[-1][1], batch[0][1])
            rows = LogEntry.objects.filter(pk__in=[pk for pk, _ in batch], at__range=times)
            total += rows.delete()[0]
        return total

    def matching_id(self, text: str) -> "LogEntryQuerySet":
        """Find entries of any account by an id or an address hash, for staff."""
        # The index on `at` starts with the account, so the queries have to name the accounts.
        if text.startswith("val_"):
            return self.with_result(text).filter(account__in=Account.objects.all())
        if text.startswith("bat_"):
            return self.of_batch(text).filter(account__in=Account.objects.all())
        # A request id that the client chose may look like a hash.
        return self.filter(models.Q(address_hash=text) | models.Q(request_id=text))


class LogEntry(models.Model):
    """Records one response to a valid key, except 429, or one playground request.

    It stores the address masked, plus a keyed hash that finds the entries of a known address.
    """

    # Every call writes every index, so each one serves a filter. Filters without an index (verdict,
    # score, …) scan a bounded part of the log.
    # Without constraints, which would be checked for each row. The usage that is recorded in the
    # same transaction has them, and protects its account and key.
    account = models.ForeignKey(
        Account, on_delete=models.CASCADE, related_name="+", db_index=False, db_constraint=False
    )
    # Null for the playground.
    key = models.ForeignKey(
        ApiKey,
        null=True,
        on_delete=models.CASCADE,
        related_name="+",
        db_index=False,
        db_constraint=False,
    )
    at = models.DateTimeField(default=timezone.now)
    request_id = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField()
    # The error code of a refusal, otherwise empty.
    refusal = models.CharField(max_length=40, blank=True)
    path = models.CharField(max_length=100)
    cost = models.PositiveSmallIntegerField(default=0)
    duration_ms = models.PositiveIntegerField()
    replayed = models.BooleanField(default=False)
    sandbox = models.BooleanField(default=False)
    # Set for validations, empty for refusals and other operations.
    result_id = models.CharField(max_length=30, blank=True)
    batch_id = models.CharField(max_length=30, blank=True, default="", db_default="")
    address = models.CharField(max_length=330, blank=True)
    address_hash = models.CharField(max_length=32, blank=True)
    domain = models.CharField(max_length=255, blank=True)
    verdict = models.CharField(max_length=20, blank=True)
    reason = models.CharField(max_length=40, blank=True)
    score = models.PositiveSmallIntegerField(null=True)
    # Packed by validation.addresses: pack_checks and pack_account_list.
    checks = models.BigIntegerField(default=0)

    objects = LogEntryQuerySet.as_manager()

    class Meta:
        verbose_name = "request"
        verbose_name_plural = "request log"
        permissions = [("erase_address", "Can erase an address of all accounts")]
        indexes = [
            models.Index(fields=["account", "at"], name="log_by_account"),
            models.Index(fields=["key", "at"], name="log_by_key"),
            models.Index(
                fields=["account", "reason", "at"],
                condition=~models.Q(reason=COMMON_REASON),
                name="log_by_rare_reason",
            ),
            models.Index(fields=["account", "domain", "at"], name="log_by_domain"),
            # Staff search all accounts.
            models.Index(fields=["address_hash", "account", "at"], name="log_by_address"),
            models.Index(fields=["request_id", "account", "at"], name="log_by_request"),
            models.Index(
                fields=["account", "at"], condition=~models.Q(status=200), name="log_of_refusals"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.request_id} {self.status} {self.verdict or self.refusal}".strip()

    def get_absolute_url(self) -> str:
        """Identify the entry by request id and time; a serial number would reveal our volume."""
        return reverse("validation:show-request", args=[self.request_id, to_microseconds(self.at)])


@cache
def _log_row_format(*columns: str) -> JsonTable:
    fields = {field.column: field for field in _log_fields()}
    fields[SHARED_ROW] = models.IntegerField()
    return JsonTable(**{column: fields[column] for column in columns})


@cache
def _blank_log_row() -> dict[str, object]:
    return {field.column: field.get_default() for field in _log_fields()}


def _log_fields() -> list[Any]:
    """Return all fields except the primary key, which the database assigns."""
    return [field for field in LogEntry._meta.concrete_fields if not field.primary_key]
