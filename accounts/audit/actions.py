"""Map each action code of the audit log to the label that customers see. Pure."""

from dataclasses import dataclass
from enum import StrEnum


class Group(StrEnum):
    SECURITY = "security"
    KEYS = "keys"
    TEAM = "team"
    BILLING = "billing"
    ACCOUNT = "account"
    # Staff actions that concern no account. Customers never see these.
    SERVICE = "service"


GROUPS: dict[Group, str] = {
    Group.SECURITY: "Sign-in and security",
    Group.KEYS: "API keys",
    Group.TEAM: "Team",
    Group.BILLING: "Billing",
    Group.ACCOUNT: "Account and data",
    Group.SERVICE: "The service itself",
}

_LABELS: dict[Group, dict[str, str]] = {
    Group.SECURITY: {
        "user.signed_in": "Signed in",
        "user.signed_out": "Signed out",
        "user.sign_in_failed": "Gave a wrong password",
        "user.second_factor_failed": "Gave a wrong code",
        "user.sessions_ended": "Signed out their other browsers",
        "user.password_changed": "Changed their password",
        "user.password_set": "Set a password",
        "user.password_reset_asked": "Asked for a link to a new password",
        "user.password_reset": "Set a new password with the link from a mail",
        "user.email_change_asked": "Asked to change their email",
        "user.email_changed": "Changed their email",
        "user.email_confirmed": "Confirmed their email",
        "user.second_factor_added": "Added a way to sign in",
        "user.second_factor_removed": "Removed a way to sign in",
        "user.second_factor_removed_by_staff": "Removed somebody's way to sign in",
        "user.passkey_renamed": "Renamed a passkey",
        "user.recovery_codes_renewed": "Made new recovery codes",
        "user.renamed": "Changed their name",
        "user.terms_agreed": "Agreed to the terms",
        "user.changed_by_staff": "Changed a user",
    },
    Group.KEYS: {
        "key.created": "Created an API key",
        "key.changed": "Changed an API key",
        "key.rotated": "Rotated an API key",
        "key.revoked": "Revoked an API key",
    },
    Group.TEAM: {
        "member.invited": "Invited somebody",
        "member.joined": "Joined the account",
        "member.role_changed": "Changed a role",
        "member.removed": "Removed somebody from the account",
        "member.left": "Left the account",
        "invitation.withdrawn": "Withdrew an invitation",
    },
    Group.BILLING: {
        "order.placed": "Placed an order",
        "order.paid": "An order was paid",
        "order.cancelled": "Cancelled an order",
        "order.refund_asked": "Asked the payment service for a refund",
        "order.refunded": "Refunded an order",
        "order.paid_twice": "Received a second payment for an order",
        "order.odd_payment": "Received a payment that fits no order",
        "plan.chosen": "Chose a plan",
        "plan.given_by_staff": "Changed the plan",
        "credits.granted": "Granted credits",
        "credits.taken_back": "Took back credits",
        "threshold.changed": "Changed when a low balance is told",
    },
    Group.ACCOUNT: {
        "account.opened": "Opened the account",
        "account.renamed": "Renamed the account",
        "account.log_days_changed": "Changed how long requests are kept",
        "account.exported": "Exported all data of the account",
        "audit.exported": "Exported the audit log",
        "requests.exported": "Exported requests",
        "address.erased": "Erased an address from the request log",
        "account.suspended": "Suspended the account",
        "account.suspension_lifted": "Lifted the suspension",
        "account.closed": "Closed the account",
        "account.reopened": "Opened the account again",
        "account.changed_by_staff": "Changed the account's settings",
        "account.looked_at_by_staff": "Looked at usage and requests",
    },
    Group.SERVICE: {
        "plan.added_by_staff": "Added a plan",
        "plan.changed_by_staff": "Changed a plan's terms",
        "pack.added_by_staff": "Added a pack",
        "pack.changed_by_staff": "Changed a pack's terms",
        "domain.listed": "Listed a domain",
        "domain.unlisted": "Took a domain off the list",
        "group.added": "Added a group of staff",
        "group.changed": "Changed what a group of staff may do",
        "group.removed": "Removed a group of staff",
        "grant.requested": "Asked for a grant of credits",
        "grant.confirmed": "Confirmed a grant of credits",
        "grant.rejected": "Rejected a grant of credits",
        "grant.withdrawn": "Withdrew a grant of credits",
        "mail.sent_again": "Sent mails again",
    },
}


@dataclass(frozen=True)
class Action:
    code: str
    label: str
    group: Group


ACTIONS: dict[str, Action] = {
    code: Action(code, label, group)
    for group, labels in _LABELS.items()
    for code, label in labels.items()
}


def action_label(code: str) -> str:
    """Return the label of an action. Old entries may have a code that is no longer in the table."""
    action = ACTIONS.get(code)
    return action.label if action else code


def codes_in(group: Group) -> list[str]:
    return list(_LABELS[group])
