from django.db import models
from django.utils import timezone

from accounts.models import Account


class AccountDomains(models.Model):
    """Stores the domains that an account allows or denies, with their subdomains.

    `Account.domains_version` identifies their content: a metered call reads that with its key, and
    needs this row only if it changed.
    """

    account = models.OneToOneField(Account, on_delete=models.CASCADE, related_name="domains")
    allowed = models.JSONField(default=list)
    denied = models.JSONField(default=list)
    changed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name = verbose_name_plural = "own domains"

    def __str__(self) -> str:
        return f"Domains of {self.account}"
