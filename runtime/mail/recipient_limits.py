"""Limit, per mailbox, the emails that strangers can trigger.

Signing up, asking for a password reset, inviting, and changing to a new address all send an email
to an address that someone else typed. Without this limit, an attacker could use them to flood a
mailbox.
"""

import logging
import re
from datetime import datetime, timedelta

from django.conf import settings
from django.db import models, transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac

from runtime.metrics.client import Counter
from validation.engine.aliases import canonical_address, strip_plus_tag
from validation.engine.syntax.parsing import AddressParts, parse_address

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
        """Count one more email to this mailbox, or return False when its limit is reached."""
        now = timezone.now()
        limit = self._get_locked(_digest(email), now)
        # Times in the future were written before the clock was set back.
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

    def _get_locked(self, recipient: str, now: datetime) -> "RecipientLimit":
        """Return the recipient's row.

        Concurrent transactions wait for each other here: an upsert locks the row in PostgreSQL, and
        SQLite has one writer at a time.
        """
        self.bulk_create(
            [RecipientLimit(recipient=recipient, updated_at=now)],
            update_conflicts=True,
            unique_fields=["recipient"],
            update_fields=["updated_at"],
        )
        return self.get(recipient=recipient)

    def delete_old(self) -> None:
        self.filter(updated_at__lt=timezone.now() - DAY).delete()


class RecipientLimit(models.Model):
    # A keyed digest of the mailbox, the same for all spellings of its address.
    recipient = models.CharField(max_length=64, unique=True)
    # Unix times of the emails of the last day.
    sent_at = models.JSONField(default=list)
    updated_at = models.DateTimeField()

    objects = RecipientLimitQuerySet.as_manager()

    def __str__(self) -> str:
        return f"Recipient limit {self.pk}"


def _digest(email: str) -> str:
    digest = salted_hmac(
        "accounts.recipient", _mailbox(email), secret=settings.ADDRESS_HASH_KEY, algorithm="sha256"
    )
    return digest.hexdigest()


def _mailbox(email: str) -> str:
    """Return one spelling for all spellings of an address.

    Unlike elsewhere, a plus tag is dropped at every domain: counting two mailboxes as one only
    makes the limit stricter.
    """
    local_part, _, domain = email.rpartition("@")
    if local_part.startswith('"') and local_part.endswith('"'):
        # Quotes and backslashes aren't part of the local part's value (RFC 5321, 4.1.2).
        email = re.sub(r"\\(.)", r"\1", local_part[1:-1]) + f"@{domain}"
    parts = parse_address(email)
    if not isinstance(parts, AddressParts):
        return email.lower()
    local_part, _, domain = canonical_address(parts.local_part, parts.ascii_domain).rpartition("@")
    return f"{strip_plus_tag(local_part)}@{domain}"
