from django.db import models

from accounts.models.accounts import Account


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
