"""Import the models of the sub-packages, where Django looks for an app's models."""

from runtime.jobs.leases import Lease
from runtime.mail.outbox import Mail
from runtime.mail.recipient_limits import RecipientLimit

__all__ = ["Lease", "Mail", "RecipientLimit"]
