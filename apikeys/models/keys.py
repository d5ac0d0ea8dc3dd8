import logging
from datetime import timedelta
from ipaddress import ip_address, ip_network
from typing import Any, ClassVar

from django.conf import settings
from django.core.validators import MinValueValidator
from django.db import DatabaseError, models
from django.db.models import Q
from django.utils import timezone

from accounts.models import Account, User
from accounts.names import validate_name
from apikeys import crypto
from runtime.ids import random_id

logger = logging.getLogger(__name__)

MOST_ACTIVE = 20
# When a key was used last is written at most this often.
USE_NOTED_EVERY = timedelta(minutes=1)
# An expiry is announced so long before.
SOON = timedelta(days=7)


def key_id() -> str:
    return random_id("key")


class KeyRefused(Exception):
    """What the rules of keys do not allow; the text is for the person who tried."""


class TooManyKeys(KeyRefused):
    def __init__(self) -> None:
        super().__init__(
            f"An account has at most {MOST_ACTIVE} active keys. Revoke one that is no longer used."
        )


class AlreadyRotated(KeyRefused):
    def __init__(self) -> None:
        super().__init__("This key was rotated already. Rotate the one that replaced it.")


class ApiKeyQuerySet(models.QuerySet["ApiKey"]):
    def active(self) -> "ApiKeyQuerySet":
        return self.filter(Q(expires_at=None) | Q(expires_at__gt=timezone.now()), revoked_at=None)

    def with_ends(self, first: str, last: str) -> "ApiKeyQuerySet":
        """By the mask that people see."""
        return self.filter(first_four=first, last_four=last)

    def create_key(self, *, account: Account, name: str, **fields: Any) -> "tuple[ApiKey, str]":
        """The key, and its secret, which is nowhere else. Call it with the account locked."""
        if self.active().filter(account=account).count() >= MOST_ACTIVE:
            raise TooManyKeys
        secret = crypto.generate()
        first, last = crypto.ends(secret)
        digest = crypto.digest(secret, settings.API_KEY_PEPPER)
        key = self.create(
            account=account, name=name, digest=digest, first_four=first, last_four=last, **fields
        )
        return key, secret


class ApiKey(models.Model):
    """What a back-end server proves itself with. Of its secret only a digest is kept."""

    public_id = models.CharField(max_length=30, unique=True, editable=False, default=key_id)
    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="api_keys")
    name = models.CharField(max_length=50, validators=[validate_name])
    # HMAC-SHA-256 under API_KEY_PEPPER, which is not in the database.
    digest = models.CharField(max_length=64, unique=True, editable=False)
    first_four = models.CharField(max_length=4, editable=False)
    last_four = models.CharField(max_length=4, editable=False)
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    last_used_at = models.DateTimeField(null=True, editable=False)
    last_used_ip = models.GenericIPAddressField(null=True, editable=False)
    expires_at = models.DateTimeField(null=True, blank=True)
    expiry_announced_at = models.DateTimeField(null=True, editable=False)
    revoked_at = models.DateTimeField(null=True, editable=False)
    # CIDR notation; empty means from anywhere.
    allowed_networks = models.JSONField(default=list, blank=True)
    requests_per_minute = models.PositiveIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1)]
    )
    replaced_by = models.ForeignKey(
        "self", null=True, editable=False, on_delete=models.SET_NULL, related_name="+"
    )
    # The form that made it. Sent again, it makes no second key.
    form_token = models.CharField(max_length=32, null=True, editable=False)  # noqa: DJ001

    objects: ClassVar[ApiKeyQuerySet] = ApiKeyQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        verbose_name = "API key"
        permissions = [("revoke_apikey", "Can revoke API keys")]
        constraints = [
            models.UniqueConstraint(fields=["account", "form_token"], name="one_key_for_a_form"),
            models.CheckConstraint(
                condition=Q(requests_per_minute=None) | Q(requests_per_minute__gte=1),
                name="key_rate_is_positive",
            ),
            models.CheckConstraint(condition=~Q(name=""), name="key_has_a_name"),
        ]
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return f"{self.name} ({self.display})"

    @property
    def display(self) -> str:
        return f"{crypto.PREFIX}{self.first_four}…{self.last_four}"

    @property
    def is_revoked(self) -> bool:
        return self.revoked_at is not None

    @property
    def is_expired(self) -> bool:
        return self.expires_at is not None and self.expires_at <= timezone.now()

    @property
    def expires_soon(self) -> bool:
        return self.expires_at is not None and self.expires_at <= timezone.now() + SOON

    @property
    def is_active(self) -> bool:
        return not self.is_revoked and not self.is_expired

    @property
    def request_limit(self) -> int:
        limit = self.account.request_limit
        return min(self.requests_per_minute or limit, limit)

    def note_use(self, ip: str) -> None:
        before = timezone.now() - USE_NOTED_EVERY
        if self.last_used_at is not None and self.last_used_at > before:
            return
        unnoted = Q(last_used_at=None) | Q(last_used_at__lte=before)
        due = ApiKey.objects.filter(unnoted, pk=self.pk)
        try:
            due.update(last_used_at=timezone.now(), last_used_ip=ip, digest=self.digest)
        except DatabaseError as error:
            # A note that cannot be written is no reason to refuse a request that needs no writing.
            logger.warning("The use of a key was not noted", exc_info=error)

    def allows(self, ip: str) -> bool:
        """Whether its owner lets it be used from this address."""
        if not self.allowed_networks:
            return True
        address = ip_address(ip)
        return any(address in ip_network(network) for network in self.allowed_networks)

    def revoke(self) -> bool:
        """True for the one call that revoked it."""
        now = timezone.now()
        revoked = ApiKey.objects.filter(pk=self.pk, revoked_at=None).update(revoked_at=now)
        if revoked:
            self.revoked_at = now
        return bool(revoked)

    def rotate(self, *, grace: timedelta, **fields: Any) -> "tuple[ApiKey, str]":
        """A new key with the same settings; this one lives on for as long as the grace says.

        Call it with the account locked.
        """
        now = timezone.now()
        if self.replaced_by_id is not None:
            raise AlreadyRotated
        # A key made for 90 days is followed by another of 90 days.
        lifetime = self.expires_at - self.created_at if self.expires_at else None
        if grace:
            unending = Q(expires_at=None) | Q(expires_at__gt=now + grace)
            ApiKey.objects.filter(unending, pk=self.pk).update(expires_at=now + grace)
        else:
            self.revoke()
        rotated: tuple[ApiKey, str] = ApiKey.objects.create_key(
            account=self.account,
            name=self.name,
            allowed_networks=self.allowed_networks,
            requests_per_minute=self.requests_per_minute,
            expires_at=now + lifetime if lifetime else None,
            **fields,
        )
        ApiKey.objects.filter(pk=self.pk).update(replaced_by=rotated[0])
        return rotated
