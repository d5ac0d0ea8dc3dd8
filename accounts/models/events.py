from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from accounts.models.accounts import Account
from runtime.ids import random_id


def event_id() -> str:
    return random_id("evt")


class EventQuerySet(models.QuerySet["Event"]):
    def numbered(self) -> "EventQuerySet":
        """Return what readers see, newest first."""
        return self.exclude(number=None).order_by("-number")

    def unnumbered(self) -> "EventQuerySet":
        return self.filter(number=None).order_by("pk")


class Event(models.Model):
    """A change that an account's own systems can learn of: docs/design/events.md."""

    public_id = models.CharField("ID", max_length=30, unique=True, default=event_id)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="events")
    type = models.CharField(max_length=50)
    # The JSON that webhooks and the API send. jsonb would change the order of its fields.
    body = models.TextField()
    created_at = models.DateTimeField(default=timezone.now)
    # The position in the account's events, assigned after the commit: the order of ids isn't the
    # order of commits.
    number = models.BigIntegerField(null=True)
    # Identifies a fact that must be recorded only once, such as the expiry of a key.
    once = models.CharField(max_length=100, null=True)  # noqa: DJ001 - null is unique many times
    # Sent to this endpoint only.
    endpoint = models.ForeignKey(
        "accounts.WebhookEndpoint",
        null=True,
        on_delete=models.CASCADE,
        related_name="+",
        db_index=False,
    )

    objects = EventQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["number"], name="event_number_is_unique"),
            models.UniqueConstraint(fields=["account", "once"], name="event_is_recorded_once"),
        ]
        indexes = [
            models.Index(F("account"), F("number").desc(), name="event_by_account"),
            models.Index(fields=["id"], condition=Q(number=None), name="event_without_number"),
            models.Index(fields=["created_at"], name="event_by_age"),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.public_id}"


class MutedEmail(models.Model):
    """An account doesn't want emails about events of this type."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="muted_emails")
    type = models.CharField(max_length=50)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "type"], name="email_is_muted_once")
        ]

    def __str__(self) -> str:
        return f"{self.type} of {self.account}"
