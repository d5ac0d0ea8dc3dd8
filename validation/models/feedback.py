from datetime import timedelta
from typing import Any, NamedTuple

import orjson
from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models import Account
from apikeys.daily_limits import DailyQuerySet
from apikeys.models import ApiKey
from runtime.encryption import DecryptionFailed, decrypt, encrypt
from runtime.ids import random_id
from runtime.logging.formatters import mask_secrets

FEEDBACK_RETENTION = timedelta(days=90)


def feedback_id() -> str:
    return random_id("fbk")


class FeedbackQuerySet(DailyQuerySet["Feedback"]):
    def expired(self) -> "FeedbackQuerySet":
        return self.filter(at__lte=timezone.now() - FEEDBACK_RETENTION)

    def open(self) -> "FeedbackQuerySet":
        return self.filter(state=Feedback.State.OPEN)


class FeedbackText(NamedTuple):
    email: str
    comment: str
    bounce: str
    # The result as JSON. Earlier releases didn't store it.
    result: str = ""


_UNREADABLE = FeedbackText("", "", "")


class Feedback(models.Model):
    class State(models.TextChoices):
        OPEN = "open", "Open"
        ANSWERED = "answered", "Answered"

    class Expected(models.TextChoices):
        DELIVERABLE = "deliverable", "The address accepts mail"
        UNDELIVERABLE = "undeliverable", "The address doesn't accept mail"
        DISPOSABLE = "disposable", "The address is disposable"
        NOT_DISPOSABLE = "not_disposable", "The address isn't disposable"

    public_id = models.CharField(max_length=30, unique=True, editable=False, default=feedback_id)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+")
    # Null if it was sent from the dashboard.
    key = models.ForeignKey(ApiKey, null=True, on_delete=models.SET_NULL, related_name="+")
    # The email address for the answer, because users can be erased.
    sent_by = models.CharField(max_length=254, blank=True)
    at = models.DateTimeField(default=timezone.now)
    result_id = models.CharField(max_length=30, unique=True)
    domain = models.CharField(max_length=255, blank=True)
    verdict = models.CharField(max_length=20)
    reason = models.CharField(max_length=40)
    expected = models.CharField(max_length=14, choices=Expected)
    address_hash = models.CharField(max_length=32)
    # A FeedbackText, encrypted.
    packed = models.TextField()
    state = models.CharField(max_length=8, choices=State, default=State.OPEN)
    answer = models.CharField(max_length=1000, blank=True)
    answered_at = models.DateTimeField(null=True)

    objects = FeedbackQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "feedback"
        ordering = ["-at", "-pk"]
        indexes = [
            models.Index(fields=["account", "at"], name="feedback_by_account"),
            models.Index(fields=["address_hash"], name="feedback_by_address"),
            models.Index(fields=["at"], name="feedback_by_time"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(state="open", answered_at=None)
                | Q(state="answered", answered_at__isnull=False),
                name="feedback_is_open_or_answered",
            )
        ]

    def __str__(self) -> str:
        return self.public_id

    @property
    def is_open(self) -> bool:
        return self.state == self.State.OPEN

    @property
    def text(self) -> FeedbackText:
        """Return an empty text if the SECRET_KEY that encrypted it was removed."""
        try:
            return FeedbackText(*decrypt(self.packed).split("\0"))
        except DecryptionFailed:
            return _UNREADABLE

    @property
    def result(self) -> dict[str, Any] | None:
        """Return what the customer got, for longer than results are stored."""
        document: dict[str, Any] | None = orjson.loads(self.text.result or "null")
        return document

    @property
    def is_readable(self) -> bool:
        return self.text != _UNREADABLE

    @staticmethod
    def pack(text: FeedbackText) -> str:
        """Encrypt the text without API keys, which bounce messages may contain."""
        return encrypt("\0".join(mask_secrets(part.replace("\0", "\u2400")) for part in text))
