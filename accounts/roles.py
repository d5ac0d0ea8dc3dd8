"""What each role may do: one table, read by views, templates and tests."""

from enum import StrEnum

from django.db.models import TextChoices


class Role(TextChoices):
    OWNER = "owner", "Owner"
    ADMIN = "admin", "Admin"
    DEVELOPER = "developer", "Developer"
    BILLING = "billing", "Billing"
    VIEWER = "viewer", "Viewer"


class TeamPermission(StrEnum):
    LOOK = "look"
    RENAME_ACCOUNT = "rename_account"
    EXPORT_ACCOUNT = "export_account"
    CLOSE_ACCOUNT = "close_account"
    SEE_AUDIT_LOG = "see_audit_log"
    MANAGE_TEAM = "manage_team"
    MANAGE_KEYS = "manage_keys"
    MANAGE_DATA = "manage_data"
    BUY = "buy"
    VALIDATE = "validate"


PERMISSIONS: dict[TeamPermission, frozenset[Role]] = {
    TeamPermission.LOOK: frozenset(Role),
    TeamPermission.RENAME_ACCOUNT: frozenset({Role.OWNER, Role.ADMIN}),
    TeamPermission.EXPORT_ACCOUNT: frozenset({Role.OWNER, Role.ADMIN}),
    TeamPermission.CLOSE_ACCOUNT: frozenset({Role.OWNER}),
    # It tells when and from where each member signed in.
    TeamPermission.SEE_AUDIT_LOG: frozenset({Role.OWNER, Role.ADMIN}),
    TeamPermission.MANAGE_TEAM: frozenset({Role.OWNER, Role.ADMIN}),
    TeamPermission.MANAGE_KEYS: frozenset({Role.OWNER, Role.ADMIN, Role.DEVELOPER}),
    # How long requests are kept, and what is erased of them.
    TeamPermission.MANAGE_DATA: frozenset({Role.OWNER, Role.ADMIN}),
    TeamPermission.BUY: frozenset({Role.OWNER, Role.ADMIN, Role.BILLING}),
    # It spends credits.
    TeamPermission.VALIDATE: frozenset({Role.OWNER, Role.ADMIN, Role.DEVELOPER}),
}

# Said on the team page and in the invitation.
DESCRIPTIONS: dict[Role, str] = {
    Role.OWNER: "Everything, including closing the account.",
    Role.ADMIN: "Everything but closing the account and changing owners.",
    Role.DEVELOPER: "Works with the API: keys, requests and usage.",
    Role.BILLING: "Buys credits and sees invoices.",
    Role.VIEWER: "Looks, changes nothing.",
}


def has_permission(role: Role, act: TeamPermission) -> bool:
    return role in PERMISSIONS[act]


def roles_given_by(role: Role) -> list[Role]:
    """The roles this role may give to others, and whose holders it may change or remove."""
    if role == Role.OWNER:
        return list(Role)
    if has_permission(role, TeamPermission.MANAGE_TEAM):
        return [other for other in Role if other != Role.OWNER]
    return []


def roles_with(act: TeamPermission) -> str:
    """For the page that refuses: `Owner or Admin`."""
    return " or ".join(role.label for role in Role if has_permission(role, act))
