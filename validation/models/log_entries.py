from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from functools import cache

from django.db import models
from django.urls import reverse
from django.utils import timezone

from accounts.models import Account
from apikeys.models import ApiKey
from engine import CHECKS
from runtime.database import batches
from runtime.database.raw_sql import BulkInsert, JsonTable
from runtime.dates import to_microseconds
from validation.ids import result_created_at

COMMON_REASON = "domain_accepts_mail"
MAX_ROW_DELAY = timedelta(seconds=15)
_CHECK_VALUES = (None, False, True)
_ACCOUNT_LISTS = (None, "denied", "allowed")
_ACCOUNT_LIST_BIT = 60


class LogEntryQuerySet(models.QuerySet["LogEntry"]):
    def retained_for(
        self, account: Account, since: datetime | None = None, until: datetime | None = None
    ) -> "LogEntryQuerySet":
        """Return entries within the account's retention. Older ones may exist for up to a day.

        The end keeps PostgreSQL out of the default partition, so it can read day by day. There is
        one start and one end, because SQLite would search the index by any one of several.
        """
        start, end = account.log_starts_at, timezone.now() + timedelta(days=1)
        start, end = max(start, since or start), min(end, until or end)
        return self.filter(account=account, at__gte=start, at__lt=end)

    def of_batch(self, batch_id: str) -> "LogEntryQuerySet":
        return self._around(batch_id).filter(batch_id=batch_id)

    def with_result(self, result_id: str) -> "LogEntryQuerySet":
        return self._around(result_id).filter(result_id=result_id)

    def _around(self, text: str) -> "LogEntryQuerySet":
        """Filter by the time in an id, because ids have no index."""
        at = result_created_at(text)
        if at is None:
            return self.none()
        return self.filter(at__range=(at - timedelta(seconds=1), at + MAX_ROW_DELAY))

    def bulk_insert(self, entries: Iterable[dict[str, object]]) -> BulkInsert:
        blank = {**_blank_row(), "at": timezone.now()}
        rows = [list({**blank, **entry}.values()) for entry in entries]
        return BulkInsert(self.model._meta.db_table, JsonTable.of_model(LogEntry), rows)

    def delete_in_batches(self) -> int:
        """Delete the rows, newest first, and return their number. Call it outside a transaction.

        The times keep PostgreSQL from looking into every day's partition.
        """
        total = 0
        while batch := list(self.order_by("-at").values_list("pk", "at")[: batches.BATCH_SIZE]):
            times = (batch[-1][1], batch[0][1])
            rows = LogEntry.objects.filter(pk__in=[pk for pk, _ in batch], at__range=times)
            total += rows.delete()[0]
        return total

    def matching_id(self, text: str) -> "LogEntryQuerySet":
        """Find entries of any account by an id or an address hash, for staff."""
        # The index on `at` starts with the account, so all accounts are named.
        if text.startswith("val_"):
            return self.with_result(text).filter(account__in=Account.objects.all())
        if text.startswith("bat_"):
            return self.of_batch(text).filter(account__in=Account.objects.all())
        # A request id that the client chose may look like a hash.
        return self.filter(models.Q(address_hash=text) | models.Q(request_id=text))


class LogEntry(models.Model):
    """One response to a valid key, except 429, or one playground request.

    The address is masked. Its keyed hash finds the entries of a known address.
    """

    # No constraints, for speed: the usage in the same transaction has them.
    account = models.ForeignKey(
        Account, on_delete=models.CASCADE, related_name="+", db_index=False, db_constraint=False
    )
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
    refusal = models.CharField(max_length=40, blank=True)
    path = models.CharField(max_length=100)
    cost = models.PositiveSmallIntegerField(default=0)
    duration_ms = models.PositiveIntegerField()
    replayed = models.BooleanField(default=False)
    sandbox = models.BooleanField(default=False)
    result_id = models.CharField(max_length=30, blank=True)
    batch_id = models.CharField(max_length=30, blank=True, default="", db_default="")
    address = models.CharField(max_length=330, blank=True)
    address_hash = models.CharField(max_length=32, blank=True)
    domain = models.CharField(max_length=255, blank=True)
    verdict = models.CharField(max_length=20, blank=True)
    reason = models.CharField(max_length=40, blank=True)
    score = models.PositiveSmallIntegerField(null=True)
    # Packed by pack_checks.
    checks = models.BigIntegerField(default=0)
    # Set by the search: a mail server hasn't answered yet.
    is_pending = False

    objects = LogEntryQuerySet.as_manager()

    class Meta:
        verbose_name = "request"
        verbose_name_plural = "request log"
        permissions = [("erase_address", "Can erase an address of all accounts")]
        # Every call writes each index, so each must serve a filter.
        indexes = [
            models.Index(fields=["account", "at"], name="log_by_account"),
            models.Index(fields=["key", "at"], name="log_by_key"),
            models.Index(
                fields=["account", "reason", "at"],
                condition=~models.Q(reason=COMMON_REASON),
                name="log_by_rare_reason",
            ),
            models.Index(fields=["account", "domain", "at"], name="log_by_domain"),
            models.Index(fields=["address_hash", "account", "at"], name="log_by_address"),
            models.Index(fields=["request_id", "account", "at"], name="log_by_request"),
            models.Index(
                fields=["account", "at"], condition=~models.Q(status=200), name="log_of_refusals"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.request_id} {self.status} {self.verdict or self.refusal}".strip()

    def get_absolute_url(self) -> str:
        """Identify the entry by request id and time: a serial number reveals our volume."""
        return reverse("validation:show-request", args=[self.request_id, to_microseconds(self.at)])

    @property
    def check_values(self) -> dict[str, bool | None]:
        values = (self.checks >> (2 * index) & 3 for index in range(len(CHECKS)))
        return {name: _CHECK_VALUES[value] for name, value in zip(CHECKS, values, strict=True)}

    @property
    def account_list(self) -> str | None:
        return _ACCOUNT_LISTS[self.checks >> _ACCOUNT_LIST_BIT & 3]


def pack_checks(checks: Mapping[str, bool | None], account_list: str | None = None) -> int:
    """Pack two bits per check, in the order of CHECKS, and the account's list behind them."""
    packed = _ACCOUNT_LISTS.index(account_list) << _ACCOUNT_LIST_BIT
    for index, name in enumerate(CHECKS):
        value = checks.get(name)
        packed |= (0 if value is None else 1 + value) << (2 * index)
    return packed


@cache
def _blank_row() -> dict[str, object]:
    names = JsonTable.of_model(LogEntry).names
    defaults = {field.column: field.get_default() for field in LogEntry._meta.concrete_fields}
    return {name: defaults[name] for name in names}
