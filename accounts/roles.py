"""What each role may do: one table, read by views, templates and tests."""

from enum import StrEnum

from django.db.models import TextChoices


class Role(TextChoices):
    OWNER = "owner", "Owner"
    ADMIN = "admin", "Admin"
    DEVELOPER = "developer", "Developer"
    BILLING = "billing", "Billing"
    VIEWER = "viewer", "Viewer"


class Act(StrEnum):
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


MAY: dict[Act, frozenset[Role]] = {
    Act.LOOK: frozenset(Role),
    Act.RENAME_ACCOUNT: frozenset({Role.OWNER, Role.ADMIN}),
    Act.EXPORT_ACCOUNT: frozenset({Role.OWNER, Role.ADMIN}),
    Act.CLOSE_ACCOUNT: frozenset({Role.OWNER}),
    # It tells when and from where each member signed in.
    Act.SEE_AUDIT_LOG: frozenset({Role.OWNER, Role.ADMIN}),
    Act.MANAGE_TEAM: frozenset({Role.OWNER, Role.ADMIN}),
    Act.MANAGE_KEYS: frozenset({Role.OWNER, Role.ADMIN, Role.DEVELOPER}),
    # How long requests are kept, and what is erased of them.
    Act.MANAGE_DATA: frozenset({Role.OWNER, Role.ADMIN}),
    Act.BUY: frozenset({Role.OWNER, Role.ADMIN, Role.BILLING}),
    # It spends credits.
    Act.VALIDATE: frozenset({Role.OWNER, Role.ADMIN, Role.DEVELOPER}),
}

# Said on the team page and in the invitation.
DESCRIPTIONS: dict[Role, str] = {
    Role.OWNER: "Everything, including closing the account.",
    Role.ADMIN: "Everything but closing the account and changing owners.",
    Role.DEVELOPER: "Works with the API: keys, requests and usage.",
    Role.BILLING: "Buys credits and sees invoices.",
    Role.VIEWER: "Looks, changes nothing.",
}


def may(role: Role, act: Act) -> bool:
    return role in MAY[act]


def roles_given_by(role: Role) -> list[Role]:
    """The roles this role may give to others, and whose holders it may change or remove."""
    if role == Role.OWNER:
        return list(Role)
    if may(role, Act.MANAGE_TEAM):
        return [other for other in Role if other != Role.OWNER]
    return []


def who_may(act: Act) -> str:
    """For the page that refuses: `Owner or Admin`."""
    return " or ".join(role.label for role in Role if may(role, act))
