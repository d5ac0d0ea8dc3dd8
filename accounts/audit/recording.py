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


def record_for_user(
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
