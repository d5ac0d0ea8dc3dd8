"""Audit log entries. Database triggers refuse changes, except for erasure."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from accounts.audit.actions import LABELS

SYSTEM = "system"
UNKNOWN_ACTOR = "unknown"
ERASED = "erased"
_NAMES = {SYSTEM: "Automatic", UNKNOWN_ACTOR: "Unknown person", ERASED: "Erased user"}
SUPPORT = "Our support team"


class AuditEntry(models.Model):
    # Null if no account is concerned, such as by a staff sign-in.
    account = models.ForeignKey(
        "accounts.Account", null=True, on_delete=models.CASCADE, related_name="audit_entries"
    )
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    # Still names the actor after the user is deleted.
    actor_name = models.CharField("actor", max_length=254)
    # Staff who aren't members of the account.
    by_staff = models.BooleanField("staff", default=False, db_default=False)
    action = models.CharField(max_length=60)
    target = models.CharField(max_length=300, blank=True)
    ip = models.GenericIPAddressField("IP address", null=True)
    at = models.DateTimeField("time", default=timezone.now)

    class Meta:
        indexes = [models.Index(fields=["account", "-at"], name="audit_by_account")]
        ordering = ["-at", "-pk"]
        verbose_name_plural = "audit entries"

    def __str__(self) -> str:
        return f"{self.actor_name} {self.action} {self.target}".strip()

    @property
    def action_label(self) -> str:
        """Return the label, or the code of an action that no longer exists."""
        return LABELS.get(self.action, self.action)

    @property
    def who(self) -> str:
        return SUPPORT if self.by_staff else _NAMES.get(self.actor_name, self.actor_name)

    @property
    def is_by_member(self) -> bool:
        return not self.by_staff and self.actor_name not in _NAMES

    @property
    def shown_ip(self) -> str | None:
        return None if self.by_staff else self.ip
