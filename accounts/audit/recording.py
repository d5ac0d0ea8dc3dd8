"""Add entries to the audit log."""

from typing import TYPE_CHECKING

from accounts.audit.models import SYSTEM, AuditEntry

if TYPE_CHECKING:
    from accounts.models import Account, User


def record(
    account: "Account | None",
    actor: "User | None",
    action: str,
    target: str = "",
    ip: str | None = None,
    *,
    anonymous_name: str = SYSTEM,
) -> AuditEntry:
    """Add an entry. Call this in the transaction of the action, so that both commit or neither.

    `anonymous_name` is stored as the name if there is no actor.
    """
    return AuditEntry.objects.create(
        account=account,
        actor=actor,
        actor_name=actor.email if actor else anonymous_name,
        by_staff=_acts_as_staff(actor, account),
        action=action,
        target=target[:300],
        ip=ip,
    )


def record_for_user(
    user: "User",
    actor: "User | None",
    action: str,
    target: str = "",
    ip: str | None = None,
) -> None:
    """Add an entry about a user to the audit log of every account they belong to."""
    for account in audited_accounts(user):
        record(account, actor, action, target, ip)


def audited_accounts(user: "User") -> "list[Account | None]":
    """Return the accounts whose audit logs record the user. `[None]` if there are none."""
    memberships = user.memberships.select_related("account")
    accounts: list[Account | None] = [membership.account for membership in memberships]
    return accounts or [None]


def _acts_as_staff(actor: "User | None", account: "Account | None") -> bool:
    if actor is None or account is None or not actor.is_staff:
        return False
    return not actor.memberships.filter(account=account).exists()
