"""The audit log: who did what, to what, from where. Rows are added and never changed."""

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.utils import timezone

if TYPE_CHECKING:
    from accounts.models import Account, User


class AuditEntry(models.Model):
    # Null for what concerns no account: a sign-in of staff who belong to none.
    account = models.ForeignKey(
        "accounts.Account", null=True, on_delete=models.CASCADE, related_name="audit_entries"
    )
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    # Kept beside the link, so that the entry still tells who it was when the user is gone.
    actor_name = models.CharField(max_length=254)
    action = models.CharField(max_length=60)
    target = models.CharField(max_length=300, blank=True)
    ip = models.GenericIPAddressField(null=True)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes = [models.Index(fields=["account", "-at"], name="audit_by_account")]
        ordering = ["-at", "-pk"]
        verbose_name_plural = "audit entries"

    def __str__(self) -> str:
        return f"{self.actor_name} {self.action} {self.target}".strip()


def record(
    account: "Account | None",
    actor: "User | None",
    action: str,
    target: str = "",
    ip: str | None = None,
) -> AuditEntry:
    """Call it inside the transaction of the act, so that neither stands without the other."""
    return AuditEntry.objects.create(
        account=account,
        actor=actor,
        actor_name=actor.email if actor else "system",
        action=action,
        target=target[:300],
        ip=ip,
    )
