import logging
from datetime import datetime, timedelta
from ipaddress import ip_address, ip_network
from typing import TypedDict, Unpack

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import DatabaseError, models
from django.db.models import Q
from django.utils import timezone

from accounts.models import Account, User
from accounts.names import validate_name
from apikeys import crypto
from apikeys.credit_limits import MAX_CREDITS_PER_MONTH
from apikeys.scopes import describe_scopes
from runtime.ids import random_id

logger = logging.getLogger(__name__)

MAX_ACTIVE_KEYS = 20
# The minimum between updates of `last_used_at`.
LAST_USE_INTERVAL = timedelta(minutes=1)
LEGACY_SCOPES = "validate lists:read lists:write domains:read domains:write usage:read"
# How early emails announce an expiry.
EXPIRY_NOTICE = timedelta(days=7)


def key_id() -> str:
    return random_id("key")


class KeyChangeRefused(Exception):
    """Raised with a message for the user."""


class TooManyKeys(KeyChangeRefused):
    def __init__(self) -> None:
        super().__init__(
            f"An account can have at most {MAX_ACTIVE_KEYS} active keys. "
            "Revoke one that you no longer use."
        )


class KeyFields(TypedDict, total=False):
    created_by: User | None
    scopes: str | None
    expires_at: datetime | None
    allowed_networks: list[str]
    requests_per_minute: int | None
    credits_per_month: int | None
    limit_announced_at: datetime | None
    limit_warned_at: datetime | None
    origin_id: int | None
    form_token: str | None


class ApiKeyQuerySet(models.QuerySet["ApiKey"]):
    def active(self) -> "ApiKeyQuerySet":
        return self.filter(Q(expires_at=None) | Q(expires_at__gt=timezone.now()), revoked_at=None)

    def with_mask(self, first: str, last: str) -> "ApiKeyQuerySet":
        return self.filter(first_four=first, last_four=last)

    def create_key(
        self, *, account: Account, name: str, **fields: Unpack[KeyFields]
    ) -> "tuple[ApiKey, str]":
        """Return the key and its secret, which isn't stored.

        Lock the account first, or concurrent calls could exceed the maximum.
        """
        if self.active().filter(account=account).count() >= MAX_ACTIVE_KEYS:
            raise TooManyKeys
        secret = crypto.generate()
        first, last = crypto.first_and_last_four(secret)
        digest = crypto.digest(secret, settings.API_KEY_PEPPER)
        key = self.create(
            account=account, name=name, digest=digest, first_four=first, last_four=last, **fields
        )
        return key, secret


class ApiKey(models.Model):
    """A customer's credential. Only a digest is stored."""

    public_id = models.CharField("ID", max_length=30, unique=True, editable=False, default=key_id)
    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="api_keys")
    name = models.CharField(max_length=50, validators=[validate_name])
    # HMAC-SHA-256 with API_KEY_PEPPER.
    digest = models.CharField(max_length=64, unique=True, editable=False)
    first_four = models.CharField(max_length=4, editable=False)
    last_four = models.CharField(max_length=4, editable=False)
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    last_used_at = models.DateTimeField(null=True, editable=False)
    last_used_ip = models.GenericIPAddressField("last used from", null=True, editable=False)
    expires_at = models.DateTimeField(null=True, blank=True)
    expiry_announced_at = models.DateTimeField(null=True, editable=False)
    revoked_at = models.DateTimeField(null=True, editable=False)
    # In CIDR notation. Empty: all networks.
    allowed_networks = models.JSONField(default=list, blank=True)
    requests_per_minute = models.PositiveIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1)]
    )
    # Per calendar month (UTC), for all keys of one origin.
    credits_per_month = models.PositiveBigIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_CREDITS_PER_MONTH)],
    )
    # Names of scopes, with spaces between them. Null: full access, including scopes of later
    # releases. The default in the database is for keys from before scopes, and for those that web
    # workers of the previous release create.
    scopes = models.CharField(  # noqa: DJ001 - an empty text would be a key without any scope
        max_length=200, null=True, blank=True, default=None, db_default=LEGACY_SCOPES
    )
    # When an email reported the limit. A change of it resets this.
    limit_announced_at = models.DateTimeField(null=True, editable=False)
    # When an email warned of the limit.
    limit_warned_at = models.DateTimeField(null=True, editable=False)
    replaced_by = models.ForeignKey(
        "self", null=True, editable=False, on_delete=models.SET_NULL, related_name="+"
    )
    # The first key of a chain of rotations. Null for that key.
    origin = models.ForeignKey(
        "self",
        null=True,
        editable=False,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
    )
    # Identifies the form, so that resubmitting it creates no second key.
    form_token = models.CharField(max_length=32, null=True, editable=False)  # noqa: DJ001

    objects = ApiKeyQuerySet.as_manager()

    class Meta:
        verbose_name = "API key"
        permissions = [("revoke_apikey", "Can revoke API keys")]
        constraints = [
            models.UniqueConstraint(fields=["account", "form_token"], name="one_key_for_a_form"),
            models.CheckConstraint(
                condition=Q(requests_per_minute=None) | Q(requests_per_minute__gte=1),
                name="key_rate_is_positive",
            ),
            models.CheckConstraint(
                condition=Q(credits_per_month=None) | Q(credits_per_month__gte=1),
                name="key_credit_limit_is_positive",
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
        return self.expires_at is not None and self.expires_at <= timezone.now() + EXPIRY_NOTICE

    @property
    def is_active(self) -> bool:
        return not self.is_revoked and not self.is_expired

    @property
    def state(self) -> str:
        if self.is_revoked:
            return "Revoked"
        return "Expired" if self.is_expired else "Active"

    @property
    def request_limit(self) -> int:
        limit = self.account.request_limit
        return min(self.requests_per_minute or limit, limit)

    def record_use(self, ip: str) -> None:
        before = timezone.now() - LAST_USE_INTERVAL
        if self.last_used_at is not None and self.last_used_at > before:
            return
        is_due = Q(last_used_at=None) | Q(last_used_at__lte=before)
        due = ApiKey.objects.filter(is_due, pk=self.pk)
        try:
            due.update(last_used_at=timezone.now(), last_used_ip=ip, digest=self.digest)
        except DatabaseError as error:
            # Read-only requests must work while the database can't write.
            logger.warning("Recording a key's last use failed", exc_info=error)

    def has_scope(self, scope: str) -> bool:
        return self.scopes is None or scope in self.scopes.split()

    @property
    def scope_names(self) -> list[str] | None:
        return None if self.scopes is None else self.scopes.split()

    @property
    def access(self) -> str:
        return describe_scopes(self.scope_names)

    def allows_ip(self, ip: str) -> bool:
        if not self.allowed_networks:
            return True
        address = ip_address(ip)
        return any(address in ip_network(network) for network in self.allowed_networks)

    def revoke(self) -> bool:
        """Revoke the key. Only one of several concurrent calls returns True."""
        now = timezone.now()
        revoked = ApiKey.objects.filter(pk=self.pk, revoked_at=None).update(revoked_at=now)
        if revoked:
            self.revoked_at = now
        return bool(revoked)

    def require_active(self) -> None:
        if not self.is_active:
            raise KeyChangeRefused("This key is no longer active. Create a new one instead.")

    def require_rotatable(self) -> None:
        if self.replaced_by_id is not None:
            raise KeyChangeRefused(
                "This key has already been rotated. Rotate its replacement instead."
            )
        self.require_active()

    def rotate(
        self, *, grace: timedelta, created_by: User | None, form_token: str | None
    ) -> "tuple[ApiKey, str]":
        """Create a key with the same settings. This one stays for the grace period.

        Lock the account first.
        """
        now = timezone.now()
        # The replacement of a key for 90 days is valid for 90 days.
        lifetime = self.expires_at - self.created_at if self.expires_at else None
        if grace:
            outlives_grace = Q(expires_at=None) | Q(expires_at__gt=now + grace)
            ApiKey.objects.filter(outlives_grace, pk=self.pk).update(expires_at=now + grace)
        else:
            self.revoke()
        replacement = ApiKey.objects.create_key(
            account=self.account,
            name=self.name,
            scopes=self.scopes,
            allowed_networks=self.allowed_networks,
            requests_per_minute=self.requests_per_minute,
            credits_per_month=self.credits_per_month,
            limit_announced_at=self.limit_announced_at,
            limit_warned_at=self.limit_warned_at,
            origin_id=self.origin_id or self.pk,
            expires_at=now + lifetime if lifetime else None,
            created_by=created_by,
            form_token=form_token,
        )
        ApiKey.objects.filter(pk=self.pk).update(replaced_by=replacement[0])
        return replacement
