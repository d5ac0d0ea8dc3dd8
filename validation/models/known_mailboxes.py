"""What makes asking a mail server needless: answers that are known, and domains not to ask."""

from django.db import models
from django.utils import timezone


class AcceptAllDomain(models.Model):
    """What a host answered for a domain: to the control name, and when it accepted a mailbox.

    At some providers each customer decides, so it's kept by domain and host.
    """

    domain = models.CharField(max_length=255)
    host = models.CharField(max_length=255)
    # Null: the control was never answered definitely.
    accepts_all = models.BooleanField(null=True)
    control_at = models.DateTimeField(null=True)
    accepted_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["domain", "host"], name="one_row_for_domain_and_host")
        ]

    def __str__(self) -> str:
        return f"{self.domain} at {self.host}"


class KnownMailbox(models.Model):
    """A definite answer, by the keyed hash of the address. No address can be read from it."""

    address_hash = models.CharField(max_length=32, primary_key=True)
    reason = models.CharField(max_length=40)
    # The result's `smtp` object.
    smtp = models.JSONField()
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.address_hash}: {self.reason}"


class UnprobedDomain(models.Model):
    """A recipient domain, or a mail organization, that is never asked about its mailboxes."""

    class Source(models.TextChoices):
        STAFF = "staff", "Staff"
        POSTMASTER = "postmaster", "The domain's postmaster"

    domain = models.CharField(max_length=255, unique=True)
    source = models.CharField(max_length=10, choices=Source, default=Source.STAFF)
    note = models.CharField(max_length=200, blank=True, help_text="Why, for your colleagues.")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["domain"]

    def __str__(self) -> str:
        return self.domain
