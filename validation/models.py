import json
from collections.abc import Iterable, Sequence
from datetime import timedelta
from functools import cache
from typing import Any

from django.conf import settings
from django.db import IntegrityError, models
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import salted_hmac

from accounts.models import Account
from apikeys.models import ApiKey
from runtime.database.raw_sql import BulkInsert, JsonTable
from runtime.dates import to_microseconds
from validation.addresses import address_hash
from validation.engine.domain_data import StaffDomains
from validation.ids import result_created_at

REPLAY_RETENTION = timedelta(hours=24)
# Per account: sandbox results are free, so nothing else would bound their storage.
MAX_SANDBOX_REPLAYS = 1_000
# The most rows that one call deletes. Concurrent processes may exceed the limit together.
_SURPLUS_BATCH = 100
# The longest time between the creation of a result's id and of its row.
MAX_ROW_DELAY = timedelta(seconds=15)


class ReplayExists(Exception):
    """Another request stored its response under the same Idempotency-Key first."""


class ReplayQuerySet(models.QuerySet["Replay"]):
    def live(self) -> "ReplayQuerySet":
        return self.filter(created_at__gt=timezone.now() - REPLAY_RETENTION)

    def expired(self) -> "ReplayQuerySet":
        return self.filter(created_at__lte=timezone.now() - REPLAY_RETENTION)

    def with_address(self, email: str) -> "ReplayQuerySet":
        """Return the replays whose body has the address, in any spelling."""
        digest = address_hash(email)
        in_batch = ~models.Q(batch_hashes="") & models.Q(batch_hashes__contains=digest)
        return self.filter(models.Q(address_hash=digest) | in_batch)

    def find(self, account: Account, idempotency_key: str) -> "Replay | None":
        return self.live().filter(account=account, key_digest=_digest(idempotency_key)).first()

    def delete_expired(self, account: Account, idempotency_key: str) -> None:
        replays = self.filter(account=account, key_digest=_digest(idempotency_key))
        replays.expired().delete()

    def delete_oldest_sandbox_replays(self, account: Account) -> None:
        """Delete what exceeds the limit once one more sandbox result is stored."""
        newest_first = self.filter(account=account, is_sandbox=True).order_by("-created_at", "-pk")
        surplus = newest_first[MAX_SANDBOX_REPLAYS - 1 : MAX_SANDBOX_REPLAYS + _SURPLUS_BATCH]
        self.filter(pk__in=surplus.values("pk")).delete()

    def store(
        self,
        account: Account,
        idempotency_key: str,
        email: str,
        body: bytes,
        *,
        is_sandbox: bool = False,
    ) -> None:
        """Store the response. Call it last in the transaction, which a ReplayExists aborts."""
        if is_sandbox:
            self.delete_oldest_sandbox_replays(account)
        try:
            self.create(
                account=account,
                key_digest=_digest(idempotency_key),
                email_digest=_digest(email),
                address_hash=address_hash(email),
                body=body.decode(),
                is_sandbox=is_sandbox,
            )
        except IntegrityError:
            raise ReplayExists from None

    def store_batch(
        self, account: Account, idempotency_key: str, emails: Sequence[str], body: bytes
    ) -> None:
        """Store the response to a batch, as `store` does. Sandbox results count as any others."""
        try:
            self.create(
                account=account,
                key_digest=_digest(idempotency_key),
                email_digest=_digest_batch(emails),
                batch_hashes=" ".join(dict.fromkeys(map(address_hash, emails))),
                body=body.decode(),
            )
        except IntegrityError:
            raise ReplayExists from None


class Replay(models.Model):
    """Stores the response to a request with an Idempotency-Key, to replay it byte for byte."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+")
    # Digests, because a client's key may be a secret and comparing needs no plain text. The body
    # does contain the address, until the daily job deletes the row.
    key_digest = models.CharField(max_length=64)
    email_digest = models.CharField(max_length=64)
    # The same hash as in the request log: erasure uses it to find every spelling of the address.
    address_hash = models.CharField(max_length=32, blank=True)
    # The hashes of all addresses of a batch, separated by spaces.
    batch_hashes = models.TextField(blank=True, default="", db_default="")
    body = models.TextField()
    is_sandbox = models.BooleanField(default=False, db_default=False)
    created_at = models.DateTimeField(default=timezone.now)

    objects = ReplayQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "key_digest"], name="one_replay_for_a_key")
        ]
        indexes = [
            models.Index(fields=["created_at"], name="replay_by_age"),
            models.Index(fields=["account", "address_hash"], name="replay_by_address"),
            models.Index(
                fields=["account"], condition=~models.Q(batch_hashes=""), name="replay_of_batch"
            ),
            models.Index(
                fields=["account", "-created_at"],
                condition=models.Q(is_sandbox=True),
                name="replay_of_sandbox",
            ),
        ]

    def __str__(self) -> str:
        return f"replay of {self.created_at:%Y-%m-%d %H:%M:%S}"

    def is_for(self, email: str) -> bool:
        return self.email_digest == _digest(email)

    def is_for_batch(self, emails: Sequence[str]) -> bool:
        return self.email_digest == _digest_batch(emails)


class LostCharge(models.Model):
    """Records a charge whose COMMIT was interrupted by a lost database connection."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+")
    result_id = models.CharField(max_length=30, unique=True)
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return self.result_id


class ListedDomainQuerySet(models.QuerySet["ListedDomain"]):
    def as_staff_domains(self) -> StaffDomains:
        domains: dict[str, set[str]] = {kind: set() for kind in ListedDomain.Kind.values}
        for domain, kind in self.values_list("domain", "kind"):
            domains[kind].add(domain)
        return StaffDomains(
            allowed=frozenset(domains[ListedDomain.Kind.ALLOW]),
            denied=frozenset(domains[ListedDomain.Kind.DENY]),
        )


class ListedDomain(models.Model):
    """Overrides the disposable domain data for a domain and its subdomains, as staff decided."""

    class Kind(models.TextChoices):
        ALLOW = "allow", "never disposable"
        DENY = "deny", "disposable"

    domain = models.CharField(
        max_length=253,
        unique=True,
        help_text="Includes all subdomains. International names are allowed.",
    )
    kind = models.CharField(max_length=5, choices=Kind.choices, default=Kind.DENY)
    reason = models.CharField(max_length=200, help_text="How you know, for your colleagues.")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = ListedDomainQuerySet.as_manager()

    class Meta:
        ordering = ["domain"]

    def __str__(self) -> str:
        return f"{self.domain}: {self.get_kind_display()}"


class LogEntryQuerySet(models.QuerySet["LogEntry"]):
    def retained_for(self, account: Account) -> "LogEntryQuerySet":
        """Return entries within the account's retention. Older ones may exist for up to a day."""
        return self.filter(account=account, at__gt=account.log_starts_at)

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
        row_format, blank = _log_row_format(), {**_blank_log_row(), "at": timezone.now()}
        rows = [list({**blank, **entry}.values()) for entry in entries]
        return BulkInsert(self.model._meta.db_table, row_format, rows)

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
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    # Null for the playground.
    key = models.ForeignKey(
        ApiKey, null=True, on_delete=models.CASCADE, related_name="+", db_index=False
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
    # Packed by validation.addresses.pack_checks.
    checks = models.BigIntegerField(default=0)

    objects = LogEntryQuerySet.as_manager()

    class Meta:
        verbose_name = "request"
        verbose_name_plural = "request log"
        permissions = [("erase_address", "Can erase an address of all accounts")]
        indexes = [
            models.Index(fields=["account", "at"], name="log_by_account"),
            models.Index(fields=["key", "at"], name="log_by_key"),
            models.Index(fields=["account", "reason", "at"], name="log_by_reason"),
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
def _log_row_format() -> JsonTable:
    return JsonTable(**{field.column: field for field in _log_fields()})


@cache
def _blank_log_row() -> dict[str, object]:
    return {field.column: field.get_default() for field in _log_fields()}


def _log_fields() -> list[Any]:
    """Return all fields except the primary key, which the database assigns."""
    return [field for field in LogEntry._meta.concrete_fields if not field.primary_key]


def _digest(text: str, purpose: str = "validation.replay") -> str:
    digest = salted_hmac(purpose, text, secret=settings.ADDRESS_HASH_KEY, algorithm="sha256")
    return digest.hexdigest()


def _digest_batch(emails: Sequence[str]) -> str:
    return _digest(json.dumps(emails), "validation.batch-replay")
