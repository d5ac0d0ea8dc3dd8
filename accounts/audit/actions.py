from dataclasses import dataclass
from enum import StrEnum


class ActionGroup(StrEnum):
    SECURITY = "security"
    KEYS = "keys"
    WEBHOOKS = "webhooks"
    TEAM = "team"
    BILLING = "billing"
    ACCOUNT = "account"
    # These concern no account, so customers never see them.
    SERVICE = "service"


GROUPS: dict[ActionGroup, str] = {
    ActionGroup.SECURITY: "Sign-in and security",
    ActionGroup.KEYS: "API keys",
    ActionGroup.WEBHOOKS: "Webhooks",
    ActionGroup.TEAM: "Team",
    ActionGroup.BILLING: "Billing",
    ActionGroup.ACCOUNT: "Account and data",
    ActionGroup.SERVICE: "Service",
}

_LABELS: dict[ActionGroup, dict[str, str]] = {
    ActionGroup.SECURITY: {
        "user.signed_in": "Signed in",
        "user.signed_out": "Signed out",
        "user.sign_in_failed": "Entered a wrong password",
        "user.second_factor_failed": "Failed the second factor",
        "user.sessions_ended": "Signed out other browsers",
        "user.password_changed": "Changed their password",
        "user.password_set": "Set a password",
        "user.password_reset_asked": "Requested a password reset",
        "user.password_reset": "Reset their password",
        "user.email_change_asked": "Requested an email change",
        "user.email_changed": "Changed their email",
        "user.email_confirmed": "Confirmed their email",
        "user.second_factor_added": "Added a sign-in method",
        "user.second_factor_removed": "Removed a sign-in method",
        "user.second_factor_removed_by_staff": "Removed a user's sign-in method",
        "user.passkey_renamed": "Renamed a passkey",
        "user.recovery_codes_renewed": "Generated new recovery codes",
        "user.renamed": "Changed their name",
        "user.terms_agreed": "Agreed to the terms",
        "user.changed_by_staff": "Changed a user",
    },
    ActionGroup.KEYS: {
        "key.created": "Created an API key",
        "key.changed": "Changed an API key",
        "key.rotated": "Rotated an API key",
        "key.revoked": "Revoked an API key",
    },
    ActionGroup.WEBHOOKS: {
        "webhook.created": "Created a webhook",
        "webhook.changed": "Changed a webhook",
        "webhook.rotated": "Rotated a webhook's keys",
        "webhook.enabled": "Enabled a webhook",
        "webhook.disabled": "Disabled a webhook",
        "webhook.deleted": "Deleted a webhook",
        "webhook.tested": "Sent a test event",
        "webhook.replayed": "Replayed deliveries",
    },
    ActionGroup.TEAM: {
        "member.invited": "Invited a member",
        "member.joined": "Joined the account",
        "member.role_changed": "Changed a member's role",
        "member.removed": "Removed a member",
        "member.left": "Left the account",
        "invitation.withdrawn": "Withdrew an invitation",
        "team.second_factor_required": "Required a second factor",
        "team.second_factor_optional": "Made the second factor optional",
    },
    ActionGroup.BILLING: {
        "order.placed": "Placed an order",
        "order.paid": "Received payment for an order",
        "order.cancelled": "Canceled an order",
        "order.refund_asked": "Requested a refund",
        "order.refunded": "Refunded an order",
        "order.paid_twice": "Received a second payment for an order",
        "order.payment_failed": "Failed to pay an order by card",
        "order.odd_payment": "Received a payment that matches no order",
        "plan.chosen": "Chose a plan",
        "plan.given_by_staff": "Changed the plan",
        "credits.granted": "Granted credits",
        "credits.deducted": "Deducted credits",
        "threshold.changed": "Changed the low-balance threshold",
        "card.agreed": "Agreed to saving a card",
        "card.saved": "Saved a card",
        "card.removed": "Removed the card",
        "top_up.switched_on": "Switched on automatic top-up",
        "top_up.changed": "Changed automatic top-up",
        "top_up.paused": "Paused automatic top-up",
        "top_up.switched_off": "Switched off automatic top-up",
    },
    ActionGroup.ACCOUNT: {
        "account.opened": "Opened the account",
        "account.renamed": "Renamed the account",
        "notifications.changed": "Changed the notifications",
        "account.log_days_changed": "Changed the request log's retention",
        "account.exported": "Exported the account's data",
        "audit.exported": "Exported the audit log",
        "requests.exported": "Exported requests",
        "domains.changed": "Changed the account's domains",
        "list.created": "Uploaded a list",
        "list.renamed": "Renamed a list",
        "list.column_chosen": "Chose a list's column",
        "list.encoding_chosen": "Chose a list's encoding",
        "list.started": "Started a list",
        "list.paused": "Paused a list",
        "list.resumed": "Resumed a list",
        "list.finished": "Finished a list",
        "list.canceled": "Canceled a list",
        "list.downloaded": "Downloaded a list",
        "list.deleted": "Deleted a list",
        "feedback.sent": "Sent feedback on a verdict",
        "feedback.answered": "Answered feedback on a verdict",
        "address.erased": "Erased an address",
        "account.suspended": "Suspended the account",
        "account.suspension_lifted": "Lifted the suspension",
        "account.closed": "Closed the account",
        "account.reopened": "Reopened the account",
        "account.changed_by_staff": "Changed the account's settings",
        "account.looked_at_by_staff": "Viewed usage and requests",
    },
    ActionGroup.SERVICE: {
        "plan.added_by_staff": "Added a plan",
        "plan.changed_by_staff": "Changed a plan's terms",
        "pack.added_by_staff": "Added a pack",
        "pack.changed_by_staff": "Changed a pack's terms",
        "domain.listed": "Listed a domain",
        "domain.unlisted": "Unlisted a domain",
        "mail_host.decided": "Decided about a mail host",
        "domain.unprobed": "Excluded a domain from mailbox checks",
        "domain.probed": "Included a domain in mailbox checks again",
        "mail_organization.off": "Stopped asking a mail organization",
        "mail_organization.on": "Started asking a mail organization again",
        "group.added": "Added a staff group",
        "group.changed": "Changed a staff group",
        "group.removed": "Removed a staff group",
        "grant.requested": "Requested a credit grant",
        "grant.confirmed": "Confirmed a credit grant",
        "grant.rejected": "Rejected a credit grant",
        "grant.withdrawn": "Withdrew a credit grant",
        "incident.published": "Published an incident",
        "incident.changed": "Changed an incident",
        "mail.sent_again": "Resent emails",
    },
}


@dataclass(frozen=True)
class AuditAction:
    code: str
    label: str
    group: ActionGroup


ACTIONS: dict[str, AuditAction] = {
    code: AuditAction(code, label, group)
    for group, labels in _LABELS.items()
    for code, label in labels.items()
}


def action_label(code: str) -> str:
    """Return the label, or the code of an action that no longer exists."""
    action = ACTIONS.get(code)
    return action.label if action else code


def codes_in(group: ActionGroup) -> list[str]:
    return list(_LABELS[group])
