from enum import StrEnum

from django.db.models import TextChoices


class Role(TextChoices):
    OWNER = "owner", "Owner"
    ADMIN = "admin", "Admin"
    DEVELOPER = "developer", "Developer"
    BILLING = "billing", "Billing"
    VIEWER = "viewer", "Viewer"


class TeamPermission(StrEnum):
    VIEW_ACCOUNT = "view_account"
    RENAME_ACCOUNT = "rename_account"
    EXPORT_ACCOUNT = "export_account"
    CLOSE_ACCOUNT = "close_account"
    VIEW_AUDIT_LOG = "view_audit_log"
    MANAGE_TEAM = "manage_team"
    REQUIRE_SECOND_FACTOR = "require_second_factor"
    MANAGE_KEYS = "manage_keys"
    MANAGE_WEBHOOKS = "manage_webhooks"
    MANAGE_DATA = "manage_data"
    MANAGE_DOMAINS = "manage_domains"
    MANAGE_NOTIFICATIONS = "manage_notifications"
    BUY = "buy"
    VALIDATE = "validate"


ROLES_BY_PERMISSION: dict[TeamPermission, frozenset[Role]] = {
    TeamPermission.VIEW_ACCOUNT: frozenset(Role),
    TeamPermission.RENAME_ACCOUNT: frozenset({Role.OWNER, Role.ADMIN}),
    TeamPermission.EXPORT_ACCOUNT: frozenset({Role.OWNER, Role.ADMIN}),
    TeamPermission.CLOSE_ACCOUNT: frozenset({Role.OWNER}),
    # It shows members' IP addresses.
    TeamPermission.VIEW_AUDIT_LOG: frozenset({Role.OWNER, Role.ADMIN}),
    TeamPermission.MANAGE_TEAM: frozenset({Role.OWNER, Role.ADMIN}),
    TeamPermission.REQUIRE_SECOND_FACTOR: frozenset({Role.OWNER}),
    TeamPermission.MANAGE_KEYS: frozenset({Role.OWNER, Role.ADMIN, Role.DEVELOPER}),
    TeamPermission.MANAGE_WEBHOOKS: frozenset({Role.OWNER, Role.ADMIN, Role.DEVELOPER}),
    # Retention and erasure.
    TeamPermission.MANAGE_DATA: frozenset({Role.OWNER, Role.ADMIN}),
    # Developers create keys, and any key can change domains.
    TeamPermission.MANAGE_DOMAINS: frozenset({Role.OWNER, Role.ADMIN, Role.DEVELOPER}),
    TeamPermission.MANAGE_NOTIFICATIONS: frozenset({Role.OWNER, Role.ADMIN}),
    TeamPermission.BUY: frozenset({Role.OWNER, Role.ADMIN, Role.BILLING}),
    # The playground and lists spend credits, and lists show addresses.
    TeamPermission.VALIDATE: frozenset({Role.OWNER, Role.ADMIN, Role.DEVELOPER}),
}

ROLE_DESCRIPTIONS: dict[Role, str] = {
    Role.OWNER: "Full access, including closing the account.",
    Role.ADMIN: "Full access, except for closing the account and managing owners.",
    Role.DEVELOPER: "Read-only access, plus API keys, webhooks, domains, the playground, "
    "and lists.",
    Role.BILLING: "Read-only access, plus buying credits and changing plans.",
    Role.VIEWER: "Read-only access.",
}


def has_permission(role: Role, permission: TeamPermission) -> bool:
    return role in ROLES_BY_PERMISSION[permission]


def roles_assignable_by(role: Role) -> list[Role]:
    if role == Role.OWNER:
        return list(Role)
    if has_permission(role, TeamPermission.MANAGE_TEAM):
        return [other for other in Role if other != Role.OWNER]
    return []


def who_has(permission: TeamPermission) -> str:
    """Name the roles: `an owner, admin, or billing member`."""
    roles = [role for role in Role if has_permission(role, permission)]
    *others, last = ["billing member" if role == Role.BILLING else role.value for role in roles]
    if not others:
        return f"an {last}"
    comma = "," if len(others) > 1 else ""
    return f"an {', '.join(others)}{comma} or {last}"
