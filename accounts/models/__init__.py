# Migrations refer to the functions that make ids.
from accounts.audit.models import AuditEntry
from accounts.models.accounts import Account, account_id
from accounts.models.events import Event, MutedEmail
from accounts.models.team import Invitation, Membership, invitation_id, membership_id
from accounts.models.users import User
from accounts.models.webhooks import Delivery, DeliveryAttempt, DisabledReason, WebhookEndpoint
