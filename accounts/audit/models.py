"""One row for each thing that someone did in an account, or that happened to it.

The database refuses to change or delete these rows, except for what erasure does to them.
"""

from django.conf import settings
from django.db import models
from django.utils import timezone

from accounts.audit.actions import words_of

# `actor_name` where the actor was no user.
SYSTEM = "system"
SOMEBODY = "somebody"
ERASED = "erased"
_NAMES = {SYSTEM: "Automatic", SOMEBODY: "Somebody unknown", ERASED: "An erased user"}
SUPPORT = "Our support"


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
    # By somebody of the staff who did not belong to the account: its owners learn no more of them.
    by_staff = models.BooleanField(default=False, db_default=False)
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

    @property
    def words(self) -> str:
        return words_of(self.action)

    @property
    def who(self) -> str:
        """As the account's members may know it."""
        return SUPPORT if self.by_staff else _NAMES.get(self.actor_name, self.actor_name)

    @property
    def is_by_member(self) -> bool:
        return not self.by_staff and self.actor_name not in _NAMES

    @property
    def shown_ip(self) -> str | None:
        return None if self.by_staff else self.ip
