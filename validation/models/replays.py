import json
from collections.abc import Sequence
from datetime import timedelta

from django.conf import settings
from django.db import IntegrityError, models
from django.utils import timezone
from django.utils.crypto import salted_hmac

from accounts.models import Account
from validation.addresses import address_hash

REPLAY_RETENTION = timedelta(hours=24)
# Per account: sandbox results are free, so nothing else would bound their storage.
MAX_SANDBOX_REPLAYS = 1_000
# The same for batches that cost nothing, each up to a hundred times as large.
MAX_FREE_BATCH_REPLAYS = 20
# The most rows that one call deletes. Concurrent processes may exceed the limit together.
_SURPLUS_BATCH = 100


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

    def free_ones_of(self, account: Account) -> "ReplayQuerySet":
        return self.filter(account=account, is_sandbox=True)

    def delete_surplus(self, limit: int) -> None:
        """Delete the oldest ones that exceed the limit once one more is stored."""
        newest_first = self.order_by("-created_at", "-pk")
        surplus = newest_first[limit - 1 : limit + _SURPLUS_BATCH]
        Replay.objects.filter(pk__in=surplus.values("pk")).delete()

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
            self.free_ones_of(account).filter(batch_hashes="").delete_surplus(MAX_SANDBOX_REPLAYS)
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
        self,
        account: Account,
        idempotency_key: str,
        emails: Sequence[str],
        body: bytes,
        *,
        is_free: bool,
    ) -> None:
        """Store the response to a batch, as `store` does."""
        if is_free:
            batches = self.free_ones_of(account).exclude(batch_hashes="")
            batches.delete_surplus(MAX_FREE_BATCH_REPLAYS)
        try:
            self.create(
                account=account,
                key_digest=_digest(idempotency_key),
                email_digest=_digest_batch(emails),
                batch_hashes=" ".join(dict.fromkeys(map(address_hash, emails))),
                body=body.decode(),
                is_sandbox=is_free,
            )
        except IntegrityError:
            raise ReplayExists from None

    def store_list(self, account: Account, idempotency_key: str, request: str, body: bytes) -> None:
        """Store the response to a request that created a list, as `store` does."""
        self.free_ones_of(account).filter(batch_hashes="").delete_surplus(MAX_SANDBOX_REPLAYS)
        try:
            self.create(
                account=account,
                key_digest=_digest(idempotency_key),
                email_digest=_digest_list(request),
                body=body.decode(),
                is_sandbox=True,
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
    # Also set for lists, and for a batch that cost nothing. The number of these is limited.
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

    def is_for_list(self, request: str) -> bool:
        return self.email_digest == _digest_list(request)


def _digest(text: str, purpose: str = "validation.replay") -> str:
    digest = salted_hmac(purpose, text, secret=settings.ADDRESS_HASH_KEY, algorithm="sha256")
    return digest.hexdigest()


def _digest_batch(emails: Sequence[str]) -> str:
    return _digest(json.dumps(emails), "validation.batch-replay")


def _digest_list(request: str) -> str:
    return _digest(request, "validation.list-replay")
