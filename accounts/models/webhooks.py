from datetime import timedelta
from urllib.parse import urlsplit

from django.db import models
from django.db.models import Count, F, Q
from django.utils import timezone

from accounts.models.accounts import Account
from accounts.models.events import Event
from accounts.models.users import User
from runtime.database.leased_rows import LeasedQuerySet, LeasedRow
from runtime.ids import random_id


def endpoint_id() -> str:
    return random_id("whk")


def delivery_id() -> str:
    return random_id("dlv")


class DisabledReason(models.TextChoices):
    MANUAL = "manual", "Disabled by a member or a key"
    # It responded with 410.
    GONE = "gone", "The endpoint responded with 410 Gone"
    FAILING = "failing", "All attempts failed for five days"


class WebhookEndpointQuerySet(LeasedQuerySet["WebhookEndpoint"]):
    def enabled(self) -> "WebhookEndpointQuerySet":
        return self.filter(disabled_at=None)

    def disabled_automatically(self) -> "WebhookEndpointQuerySet":
        return self.exclude(disabled_reason__in=("", DisabledReason.MANUAL))

    def due(self) -> "WebhookEndpointQuerySet":
        """Return endpoints with due deliveries. Those that waited longest come first."""
        waiting = Delivery.objects.due().values("endpoint")
        ready = self.enabled().filter(account__closed_at=None, pk__in=waiting)
        return ready.order_by(F("turn_at").asc(nulls_first=True), "pk")


class WebhookEndpoint(LeasedRow):
    """A URL to which events are sent.

    A process leases an endpoint, not a delivery, so that the endpoint's limit of concurrent
    attempts holds for all processes together.
    """

    # A turn of some seconds, and the longest attempt.
    LEASE = timedelta(minutes=1)

    public_id = models.CharField("ID", max_length=30, unique=True, default=endpoint_id)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="webhooks")
    url = models.CharField("URL", max_length=2000)
    description = models.CharField(max_length=200, blank=True)
    # Names of event types. Null: all, including those of later releases.
    types = models.JSONField(null=True)
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    # Identifies the form, so that resubmitting it creates no second endpoint.
    form_token = models.CharField(max_length=32, null=True)  # noqa: DJ001 - as in ApiKey

    # Encrypted: the secret of v1 signatures and the private key of v1a signatures.
    secret = models.TextField()
    private_key = models.TextField()
    # From before the last rotation, valid for both until then.
    old_secret = models.TextField(blank=True)
    old_private_key = models.TextField(blank=True)
    old_until = models.DateTimeField(null=True)

    disabled_at = models.DateTimeField(null=True)
    disabled_reason = models.CharField(max_length=10, blank=True, choices=DisabledReason)
    # Since the last success. Null: the last attempt succeeded, or there was none.
    failing_since = models.DateTimeField(null=True)
    failures = models.PositiveIntegerField(default=0)
    # When its last turn ended.
    turn_at = models.DateTimeField(null=True)

    objects = WebhookEndpointQuerySet.as_manager()

    class Meta:
        verbose_name = "webhook endpoint"
        constraints = [
            models.UniqueConstraint(
                fields=["account", "form_token"], name="one_endpoint_for_a_form"
            )
        ]
        ordering = ["created_at", "pk"]

    def __str__(self) -> str:
        """Leave out the rest of the URL, which may contain a secret."""
        return f"{urlsplit(self.url).hostname} ({self.public_id})"

    def enable(self) -> None:
        self.disabled_at, self.disabled_reason = None, ""
        self.failing_since, self.failures = None, 0
        self.save(update_fields=["disabled_at", "disabled_reason", "failing_since", "failures"])

    def disable(self, reason: DisabledReason) -> None:
        """Call this in a transaction."""
        self.disabled_at, self.disabled_reason = timezone.now(), reason
        self.save(update_fields=["disabled_at", "disabled_reason"])
        waiting = self.deliveries.filter(state=DeliveryState.WAITING)
        waiting.update(state=DeliveryState.FAILED, next_attempt_at=None)

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or self.url

    @property
    def is_enabled(self) -> bool:
        return self.disabled_at is None

    @property
    def state(self) -> str:
        return "active" if self.is_enabled else "disabled"

    @property
    def is_failing(self) -> bool:
        return self.failing_since is not None

    def wants(self, event: Event) -> bool:
        if event.endpoint_id is not None:
            return event.endpoint_id == self.pk
        return self.types is None or event.type in self.types


class DeliveryState(models.TextChoices):
    WAITING = "waiting", "Waiting"
    DELIVERED = "delivered", "Delivered"
    FAILED = "failed", "Failed"


class DeliveryQuerySet(models.QuerySet["Delivery"]):
    def due(self) -> "DeliveryQuerySet":
        return self.filter(state=DeliveryState.WAITING, next_attempt_at__lte=timezone.now())

    def lock(self) -> None:
        """Call this before deleting them. Otherwise, an attempt may be stored between both."""
        list(self.select_for_update().order_by("pk").values_list("pk"))

    def failed(self) -> "DeliveryQuerySet":
        """Return those that failed, for good or until their next attempt."""
        is_retried = Q(state=DeliveryState.WAITING, tries__gt=0)
        return self.filter(Q(state=DeliveryState.FAILED) | is_retried)

    def replay(self) -> int:
        """Return how many there are. Those that are waiting are attempted now, too."""
        return self.update(state=DeliveryState.WAITING, tries=0, next_attempt_at=timezone.now())

    def last_day(self) -> dict[str, int]:
        """Count deliveries with an attempt or a result, and the successful ones among them."""
        is_recent = Q(created_at__gte=timezone.now() - timedelta(days=1))
        was_tried = ~Q(state=DeliveryState.WAITING) | Q(tries__gt=0)
        is_delivered = Q(state=DeliveryState.DELIVERED)
        # Bounds the scan. There is no index by time.
        return self.order_by("-pk")[:10_000].aggregate(
            tried=Count("pk", filter=is_recent & was_tried),
            delivered=Count("pk", filter=is_recent & is_delivered),
        )


class Delivery(models.Model):
    """An event on its way to an endpoint."""

    public_id = models.CharField("ID", max_length=30, unique=True, default=delivery_id)
    endpoint = models.ForeignKey(
        WebhookEndpoint, on_delete=models.CASCADE, related_name="deliveries", db_index=False
    )
    event = models.ForeignKey(Event, on_delete=models.CASCADE, related_name="deliveries")
    state = models.CharField(max_length=10, choices=DeliveryState, default=DeliveryState.WAITING)
    # Attempts since the delivery was created or replayed.
    tries = models.PositiveSmallIntegerField(default=0)
    # Null unless it's waiting.
    next_attempt_at = models.DateTimeField(null=True, default=timezone.now)
    created_at = models.DateTimeField(default=timezone.now)

    objects = DeliveryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "deliveries"
        constraints = [
            models.CheckConstraint(
                condition=Q(state=DeliveryState.WAITING, next_attempt_at__isnull=False)
                | (~Q(state=DeliveryState.WAITING) & Q(next_attempt_at=None)),
                name="delivery_has_a_next_attempt_while_waiting",
            )
        ]
        indexes = [
            models.Index(fields=["endpoint", "-id"], name="delivery_by_endpoint"),
            models.Index(
                fields=["next_attempt_at", "endpoint"],
                condition=Q(state=DeliveryState.WAITING),
                name="delivery_waiting",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.event} to {self.endpoint}"


class DeliveryAttempt(models.Model):
    delivery = models.ForeignKey(
        Delivery, on_delete=models.CASCADE, related_name="delivery_attempts"
    )
    at = models.DateTimeField()
    duration_ms = models.PositiveIntegerField()
    # The webhook-signature header. The other headers follow from the event and the time.
    signature = models.TextField()
    # Null if no response came.
    status = models.PositiveSmallIntegerField(null=True)
    # A code, if the attempt failed: accounts/webhooks/sending.py.
    error = models.CharField(max_length=40, blank=True)
    # The start of the response's body.
    response = models.TextField(blank=True)
    # Of the response, while it decides about the next attempt. Not stored.
    retry_after = ""

    class Meta:
        ordering = ["at", "pk"]

    def __str__(self) -> str:
        return f"{self.delivery} at {self.at}"
