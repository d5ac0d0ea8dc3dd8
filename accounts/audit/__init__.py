"""The audit log: who did what, to what, and from where. Add entries with `audit.record(…)`."""

from accounts.audit.recording import accounts_of, record, record_for_user

__all__ = ["accounts_of", "record", "record_for_user"]
