from datetime import timedelta
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.crypto import salted_hmac

from accounts.models import Account

KEPT = timedelta(hours=24)


class ReplayQuerySet(models.QuerySet["Replay"]):
    def live(self) -> "ReplayQuerySet":
        return self.filter(created_at__gt=timezone.now() - KEPT)

    def outdated(self) -> "ReplayQuerySet":
        return self.filter(created_at__lte=timezone.now() - KEPT)

    def find(self, account: Account, idempotency_key: str) -> "Replay | None":
        return self.live().filter(account=account, key_digest=_digest(idempotency_key)).first()

    def keep(
        self, account: Account, idempotency_key: str, email: str, body: bytes
    ) -> "tuple[Replay, bool]":
        """The row that counts, and whether it is this one: another request may have been first."""
        of_this_key = self.filter(account=account, key_digest=_digest(idempotency_key))
        of_this_key.outdated().delete()
        return of_this_key.get_or_create(
            account=account,
            key_digest=_digest(idempotency_key),
            defaults={"email_digest": _digest(email), "body": body.decode()},
        )


class Replay(models.Model):
    """The answer to a request that came with an Idempotency-Key, to give it again word for word."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+")
    # The client's key may be a secret, and need not be known to be compared. The address stands in
    # the body, until the day's work deletes the row.
    key_digest = models.CharField(max_length=64)
    email_digest = models.CharField(max_length=64)
    body = models.TextField()
    created_at = models.DateTimeField(default=timezone.now)

    objects: ClassVar[ReplayQuerySet] = ReplayQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "key_digest"], name="one_replay_for_a_key")
        ]
        indexes = [models.Index(fields=["created_at"], name="replay_by_age")]

    def __str__(self) -> str:
        return f"replay of {self.created_at:%Y-%m-%d %H:%M:%S}"

    def is_for(self, email: str) -> bool:
        return self.email_digest == _digest(email)


def _digest(text: str) -> str:
    digest = salted_hmac(
        "validation.replay", text, secret=settings.ADDRESS_HASH_KEY, algorithm="sha256"
    )
    return digest.hexdigest()
