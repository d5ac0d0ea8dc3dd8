"""The audit log: who did what, to what, from where. Rows are added and never changed: the database
refuses it. What erasure takes out of them, and that it deletes those of an erased account, is all
that it lets through."""

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.utils import timezone

from accounts.actions import words_of

if TYPE_CHECKING:
    from accounts.models import Account, User

# Who it was where it was no user.
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


def record(
    account: "Account | None",
    actor: "User | None",
    action: str,
    target: str = "",
    ip: str | None = None,
    *,
    unknown: str = SYSTEM,
) -> AuditEntry:
    """Call it inside the transaction of the act, so that neither stands without the other."""
    return AuditEntry.objects.create(
        account=account,
        actor=actor,
        actor_name=actor.email if actor else unknown,
        by_staff=_is_from_outside(actor, account),
        action=action,
        target=target[:300],
        ip=ip,
    )


def record_of_user(
    user: "User",
    actor: "User | None",
    action: str,
    target: str = "",
    ip: str | None = None,
) -> None:
    """What concerns a person is told in every account they belong to."""
    for account in accounts_of(user):
        record(account, actor, action, target, ip)


def accounts_of(user: "User") -> "list[Account | None]":
    """In whose logs it stands what the user does; of who belongs to none, in no account's."""
    memberships = user.memberships.select_related("account")
    accounts: list[Account | None] = [membership.account for membership in memberships]
    return accounts or [None]


def _is_from_outside(actor: "User | None", account: "Account | None") -> bool:
    if actor is None or account is None or not actor.is_staff:
        return False
    return not actor.memberships.filter(account=account).exists()
