from collections.abc import Iterable
from datetime import timedelta
from functools import cache
from typing import Any, ClassVar

from django.conf import settings
from django.db import IntegrityError, models
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import salted_hmac

from accounts.models import Account
from apikeys.models import ApiKey
from runtime.database.raw_sql import BulkInsert, JsonRows
from runtime.dates import to_microseconds
from validation.addresses import address_hash
from validation.engine.domain_data import StaffDomains
from validation.ids import made_at

KEPT = timedelta(hours=24)
# For each account: results of the sandbox are free, and so would be the room they take.
MOST_SANDBOX_REPLAYS = 1_000
# Deleted at a time, in case several processes went beyond it together.
_SURPLUS = 100
# A result's id is made this long before its row, at most.
ROW_FOLLOWS_WITHIN = timedelta(seconds=15)


class AlreadyStored(Exception):
    """Another request with this Idempotency-Key was first."""


class ReplayQuerySet(models.QuerySet["Replay"]):
    def live(self) -> "ReplayQuerySet":
        return self.filter(created_at__gt=timezone.now() - KEPT)

    def outdated(self) -> "ReplayQuerySet":
        return self.filter(created_at__lte=timezone.now() - KEPT)

    def find(self, account: Account, idempotency_key: str) -> "Replay | None":
        return self.live().filter(account=account, key_digest=_digest(idempotency_key)).first()

    def forget_outdated(self, account: Account, idempotency_key: str) -> None:
        of_this_key = self.filter(account=account, key_digest=_digest(idempotency_key))
        of_this_key.outdated().delete()

    def make_room(self, account: Account) -> None:
        """Deletes the oldest results of the sandbox, so that one more stays within the bound."""
        newest_first = self.filter(account=account, is_sandbox=True).order_by("-created_at", "-pk")
        surplus = newest_first[MOST_SANDBOX_REPLAYS - 1 : MOST_SANDBOX_REPLAYS + _SURPLUS]
        self.filter(pk__in=surplus.values("pk")).delete()

    def keep(
        self,
        account: Account,
        idempotency_key: str,
        email: str,
        body: bytes,
        *,
        is_sandbox: bool = False,
    ) -> None:
        """At the end of a transaction, which does not outlive a KeptBefore."""
        if is_sandbox:
            self.make_room(account)
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
            raise AlreadyStored from None


class Replay(models.Model):
    """The answer to a request that came with an Idempotency-Key, to give it again word for word."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+")
    # The client's key may be a secret, and need not be known to be compared. The address stands in
    # the body, until the day's work deletes the row.
    key_digest = models.CharField(max_length=64)
    email_digest = models.CharField(max_length=64)
    # As in the request log: by this the address is found, however it is written, to be erased.
    address_hash = models.CharField(max_length=32, blank=True)
    body = models.TextField()
    is_sandbox = models.BooleanField(default=False, db_default=False)
    created_at = models.DateTimeField(default=timezone.now)

    objects: ClassVar[ReplayQuerySet] = ReplayQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "key_digest"], name="one_replay_for_a_key")
        ]
        indexes = [
            models.Index(fields=["created_at"], name="replay_by_age"),
            models.Index(fields=["account", "address_hash"], name="replay_by_address"),
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


class LostCharge(models.Model):
    """A charge that was being committed when the connection to the database was lost."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+")
    result_id = models.CharField(max_length=30, unique=True)
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return self.result_id


class ListedDomainQuerySet(models.QuerySet["ListedDomain"]):
    def as_staff_domains(self) -> StaffDomains:
        of_list: dict[str, set[str]] = {kind: set() for kind in ListedDomain.Kind.values}
        for domain, kind in self.values_list("domain", "kind"):
            of_list[kind].add(domain)
        return StaffDomains(
            allowed=frozenset(of_list[ListedDomain.Kind.ALLOW]),
            denied=frozenset(of_list[ListedDomain.Kind.DENY]),
        )


class ListedDomain(models.Model):
    """Staff's word on a domain and all below it; it counts before the list of throw-away ones."""

    class Kind(models.TextChoices):
        ALLOW = "allow", "never disposable"
        DENY = "deny", "disposable"

    domain = models.CharField(
        max_length=253, unique=True, help_text="With all below it. International names as well."
    )
    kind = models.CharField(max_length=5, choices=Kind.choices, default=Kind.DENY)
    reason = models.CharField(max_length=200, help_text="For your colleagues: how you know.")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects: ClassVar[ListedDomainQuerySet] = ListedDomainQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        ordering = ["domain"]

    def __str__(self) -> str:
        return f"{self.domain}: {self.get_kind_display()}"


class LogEntryQuerySet(models.QuerySet["LogEntry"]):
    def of(self, account: Account) -> "LogEntryQuerySet":
        """What the account wants to be kept: the rest is not shown, and deleted within a day."""
        return self.filter(account=account, at__gt=account.log_begins)

    def with_result(self, result_id: str) -> "LogEntryQuerySet":
        """An id tells when it was made: without an index of its own the row is near that moment."""
        at = made_at(result_id)
        if at is None:
            return self.none()
        window = (at - timedelta(seconds=1), at + ROW_FOLLOWS_WITHIN)
        return self.filter(at__range=window, result_id=result_id)

    def insertion(self, entries: Iterable[dict[str, Any]]) -> BulkInsert:
        """For one statement, however many there are. Each is what differs from an empty entry, by
        column: to make objects of them would take longer than to write them."""
        rows, blank = _log_rows(), {**_blank_log_row(), "at": timezone.now()}
        given = [list({**blank, **entry}.values()) for entry in entries]
        return BulkInsert(self.model._meta.db_table, rows, given)

    def named(self, text: str) -> "LogEntryQuerySet":
        """For staff: by the id of a result, the hash of an address or the id of a request."""
        if text.startswith("val_"):
            # The index of the moments begins with the account.
            return self.with_result(text).filter(account__in=Account.objects.all())
        # A client's own id may look like a hash.
        return self.filter(models.Q(address_hash=text) | models.Q(request_id=text))


class LogEntry(models.Model):
    """The request log: one row for each answer to a valid key, but for 429. The address stands in
    it masked, and as a keyed hash, by which who knows it can find it."""

    # Each index is one more to write for every call: there is one for each way to look, and none
    # beside. What has no index (verdict, score, …) is looked for in a bounded part of the log.
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    # Null: the playground of the dashboard.
    key = models.ForeignKey(
        ApiKey, null=True, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    at = models.DateTimeField(default=timezone.now)
    request_id = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField()
    # The code of a refusal; empty for an answer.
    refusal = models.CharField(max_length=40, blank=True)
    path = models.CharField(max_length=100)
    cost = models.PositiveSmallIntegerField(default=0)
    duration_ms = models.PositiveIntegerField()
    replayed = models.BooleanField(default=False)
    sandbox = models.BooleanField(default=False)
    # Of a validation; empty for a refusal and for other operations.
    result_id = models.CharField(max_length=30, blank=True)
    address = models.CharField(max_length=330, blank=True)
    address_hash = models.CharField(max_length=32, blank=True)
    domain = models.CharField(max_length=255, blank=True)
    verdict = models.CharField(max_length=20, blank=True)
    reason = models.CharField(max_length=40, blank=True)
    score = models.PositiveSmallIntegerField(null=True)
    # validation.addresses.pack_checks
    checks = models.BigIntegerField(default=0)

    objects: ClassVar[LogEntryQuerySet] = LogEntryQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        verbose_name = "request"
        verbose_name_plural = "request log"
        permissions = [("erase_address", "Can erase an address of all accounts")]
        indexes = [
            models.Index(fields=["account", "at"], name="log_by_account"),
            models.Index(fields=["key", "at"], name="log_by_key"),
            models.Index(fields=["account", "reason", "at"], name="log_by_reason"),
            models.Index(fields=["account", "domain", "at"], name="log_by_domain"),
            # Staff look without an account.
            models.Index(fields=["address_hash", "account", "at"], name="log_by_address"),
            models.Index(fields=["request_id", "account", "at"], name="log_by_request"),
            models.Index(
                fields=["account", "at"], condition=~models.Q(status=200), name="log_of_refusals"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.request_id} {self.status} {self.verdict or self.refusal}".strip()

    def get_absolute_url(self) -> str:
        """What tells it from all others, without a number that counts everybody's requests."""
        return reverse("validation:show-request", args=[self.request_id, to_microseconds(self.at)])


@cache
def _log_rows() -> JsonRows:
    return JsonRows(**{field.column: field for field in _log_fields()})


@cache
def _blank_log_row() -> dict[str, Any]:
    return {field.column: field.get_default() for field in _log_fields()}


def _log_fields() -> list[Any]:
    """Without the primary key, which the database numbers by itself."""
    return [one for one in LogEntry._meta.concrete_fields if not one.primary_key]


def _digest(text: str) -> str:
    digest = salted_hmac(
        "validation.replay", text, secret=settings.ADDRESS_HASH_KEY, algorithm="sha256"
    )
    return digest.hexdigest()
