from accounts.audit.models import AuditEntry
from accounts.models.accounts import Account, account_id
from accounts.models.events import Event
from accounts.models.notifications import MutedEmail
from accounts.models.team import Invitation, Membership, invitation_id, membership_id
from accounts.models.users import Theme, User
from accounts.models.webhooks import Delivery, DeliveryAttempt, DisabledReason, WebhookEndpoint

# Migrations refer to the functions that make ids.
__all__ = [
    "Account",
    "AuditEntry",
    "Delivery",
    "DeliveryAttempt",
    "DisabledReason",
    "Event",
    "Invitation",
    "Membership",
    "MutedEmail",
    "Theme",
    "User",
    "WebhookEndpoint",
    "account_id",
    "invitation_id",
    "membership_id",
]
