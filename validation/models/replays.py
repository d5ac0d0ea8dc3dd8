from datetime import timedelta
from typing import Any, Self
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, models
from django.utils import timezone
from django.utils.crypto import salted_hmac

from accounts.models import Account
from runtime.database.raw_sql import BulkInsert, JsonTable, execute
from validation.addresses import address_hash
from validation.ids import BATCH_PREFIX
from validation.models.stored_results import StoredResult

REPLAY_RETENTION = timedelta(hours=24)
# Per account: free requests could otherwise fill the table.
MAX_SANDBOX_REPLAYS = 1_000
MAX_FREE_BATCH_REPLAYS = 20
_SURPLUS_BATCH = 100
_FIND = "SELECT id FROM validation_replay WHERE account_id = %s AND key_digest = %s"


class ReplayExists(Exception):
    """Raised if another request with the Idempotency-Key was first."""


class ReplayQuerySet(models.QuerySet["Replay"]):
    def live(self) -> "ReplayQuerySet":
        return self.filter(created_at__gt=timezone.now() - REPLAY_RETENTION)

    def expired(self) -> "ReplayQuerySet":
        return self.filter(created_at__lte=timezone.now() - REPLAY_RETENTION)

    def with_address(self, email: str) -> "ReplayQuerySet":
        return self.filter(address_hashes__contains=address_hash(email))

    def find(self, account: Account, idempotency_key: str) -> "Replay | None":
        # Raw SQL: most keys are new, and the ORM takes too long for every call.
        found = execute(_FIND, [account.pk, digest("key", idempotency_key).hex])
        return self.filter(pk=found[0][0]).first() if found else None

    def responses(self) -> models.QuerySet[StoredResult]:
        return StoredResult.objects.filter(result_id__in=self.values("result_id"))

    def unlogged_responses(self) -> models.QuerySet[StoredResult]:
        """Return the responses of accounts that store no requests, and so no results."""
        return self.filter(account__log_days=0).responses()

    def delete_with_responses(self) -> None:
        """Delete the replays, and the responses that can't be read as results."""
        self.unlogged_responses().delete()
        self.delete()

    def delete_surplus(self, limit: int) -> None:
        """Delete the oldest, so that one more fits the limit."""
        newest_first = self.order_by("-created_at", "-pk")
        surplus = newest_first[limit - 1 : limit + _SURPLUS_BATCH]
        Replay.objects.filter(pk__in=surplus.values("pk")).delete_with_responses()


class Replay(models.Model):
    """Remembers a request with an Idempotency-Key. Its response is a row of StoredResult."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    # Digests, because a client's key may be a secret.
    key_digest = models.UUIDField()
    request_digest = models.UUIDField()
    result_id = models.CharField(max_length=30)
    # For `credits.remaining`, if the response is stored by the statement that computes it.
    balance = models.BigIntegerField(null=True)
    address_hashes = models.TextField(blank=True)
    # Free requests: sandbox results, lists, and some batches. Their number is limited.
    is_free = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now)

    objects = ReplayQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "key_digest"], name="one_replay_for_a_key")
        ]
        indexes = [
            models.Index(fields=["created_at"], name="replay_by_age"),
            models.Index(
                fields=["account", "-created_at"],
                condition=models.Q(is_free=True),
                name="replay_of_free_request",
            ),
        ]

    def __str__(self) -> str:
        return f"replay of {self.created_at:%Y-%m-%d %H:%M:%S}"

    @classmethod
    def of_request(
        cls, account: Account, idempotency_key: str, request_digest: UUID, **values: Any
    ) -> Self:
        key_digest = digest("key", idempotency_key)
        return cls(account=account, key_digest=key_digest, request_digest=request_digest, **values)

    @property
    def is_expired(self) -> bool:
        return self.created_at <= timezone.now() - REPLAY_RETENTION

    def insert_with_charge(self) -> BulkInsert:
        """Return an INSERT that gets the balance from the charge's statement."""
        columns = JsonTable.of_model(Replay)
        values = (getattr(self, name) for name in columns.names)
        row = [value.hex if isinstance(value, UUID) else value for value in values]
        return BulkInsert(self._meta.db_table, columns, [row], decided_column="balance")

    def store(self) -> None:
        """Insert the row. Call it last in the transaction, because ReplayExists aborts it."""
        if self.is_free:
            free = Replay.objects.filter(account=self.account, is_free=True)
            of_batch = models.Q(result_id__startswith=BATCH_PREFIX)
            if self.result_id.startswith(BATCH_PREFIX):
                free.filter(of_batch).delete_surplus(MAX_FREE_BATCH_REPLAYS)
            else:
                free.exclude(of_batch).delete_surplus(MAX_SANDBOX_REPLAYS)
        try:
            self.save(force_insert=True)
        except IntegrityError:
            raise ReplayExists from None


def digest(kind: str, text: str) -> UUID:
    """Return a keyed digest. `kind` is key, address, mailbox, batch, or list."""
    salt, secret = f"validation.replay.{kind}", settings.ADDRESS_HASH_KEY
    return UUID(bytes=salted_hmac(salt, text, secret=secret, algorithm="sha256").digest()[:16])
