"""Django looks for models here."""

from runtime.jobs.leases import Lease
from runtime.mail.outbox import Mail
from runtime.mail.recipient_limits import RecipientLimit

__all__ = ["Lease", "Mail", "RecipientLimit"]
