"""Limit the emails that strangers can trigger."""

import logging
import re
from datetime import timedelta

from django.conf import settings
from django.db import models, transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac

from engine import AddressParts, canonical_address, parse_address, strip_plus_tag
from runtime.metrics.client import Counter

logger = logging.getLogger(__name__)

PER_HOUR, PER_DAY = 3, 10
HOUR, DAY = timedelta(hours=1), timedelta(days=1)

dropped = Counter(
    "emailvalidation_emails_dropped",
    "Emails not sent because the recipient's limit was reached, by kind.",
    ("kind",),
)


class RecipientLimitQuerySet(models.QuerySet["RecipientLimit"]):
    @transaction.atomic
    def consume(self, email: str, kind: str) -> bool:
        """Count one more email, or return False at the mailbox's limit."""
        now = timezone.now()
        secret = settings.ADDRESS_HASH_KEY
        digest = salted_hmac("accounts.recipient", _mailbox(email), secret, algorithm="sha256")
        recipient = digest.hexdigest()
        # The upsert makes concurrent transactions wait.
        self.bulk_create(
            [RecipientLimit(recipient=recipient, updated_at=now)],
            update_conflicts=True,
            unique_fields=["recipient"],
            update_fields=["updated_at"],
        )
        limit = self.get(recipient=recipient)
        # Future times are from before the clock was set back.
        ages = [now.timestamp() - sent_at for sent_at in limit.sent_at]
        ages = [age for age in ages if -HOUR.total_seconds() < age < DAY.total_seconds()]
        in_this_hour = sum(age < HOUR.total_seconds() for age in ages)
        if in_this_hour >= PER_HOUR or len(ages) >= PER_DAY:
            dropped.labels(kind).inc()
            logger.warning("Dropped an email (%s) to %s: recipient limit reached", kind, email)
            return False
        limit.sent_at = [now.timestamp() - age for age in ages] + [now.timestamp()]
        limit.save(update_fields=["sent_at"])
        return True


class RecipientLimit(models.Model):
    # A keyed digest of the mailbox.
    recipient = models.CharField(max_length=64, unique=True)
    sent_at = models.JSONField(default=list)
    updated_at = models.DateTimeField()

    objects = RecipientLimitQuerySet.as_manager()

    def __str__(self) -> str:
        return f"Recipient limit {self.pk}"


def delete_old_recipient_limits() -> None:
    RecipientLimit.objects.filter(updated_at__lt=timezone.now() - DAY).delete()


def _mailbox(email: str) -> str:
    """Drop plus tags at every domain."""
    local_part, _, domain = email.rpartition("@")
    if local_part.startswith('"') and local_part.endswith('"'):
        # RFC 5321, 4.1.2: quotes and backslashes aren't part of it.
        email = re.sub(r"\\(.)", r"\1", local_part[1:-1]) + f"@{domain}"
    parts = parse_address(email)
    if not isinstance(parts, AddressParts):
        return email.lower()
    local_part, _, domain = canonical_address(parts.local_part, parts.ascii_domain).rpartition("@")
    return f"{strip_plus_tag(local_part)}@{domain}"
