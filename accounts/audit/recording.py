from typing import TYPE_CHECKING

from accounts.audit.models import SYSTEM, AuditEntry
from runtime.http.client_ip import current_ip

if TYPE_CHECKING:
    from accounts.models import Account, User


def record(
    account: "Account | None",
    actor: "User | None",
    action: str,
    target: str = "",
    *,
    anonymous_name: str = SYSTEM,
) -> AuditEntry:
    """Add an entry, in the transaction of the action."""
    actor_name = actor.email if actor else anonymous_name
    by_staff = False
    if actor and account and actor.is_staff:
        by_staff = not actor.memberships.filter(account=account).exists()
    return AuditEntry.objects.create(
        account=account,
        actor=actor,
        actor_name=actor_name,
        by_staff=by_staff,
        action=action,
        target=target[:300],
        # The service may act in a request of others, such as the payment provider's.
        ip=None if actor_name == SYSTEM else current_ip.get(),
    )


def record_for_user(user: "User", actor: "User | None", action: str, target: str = "") -> None:
    for account in audited_accounts(user):
        record(account, actor, action, target)


def audited_accounts(user: "User") -> "list[Account | None]":
    """Return the user's accounts, or `[None]` if there are none."""
    memberships = user.memberships.select_related("account")
    accounts: list[Account | None] = [membership.account for membership in memberships]
    return accounts or [None]
