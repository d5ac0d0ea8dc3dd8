"""The audit log: who did what, and from where. Add entries with `audit.record(…)`."""

from accounts.audit.recording import audited_accounts, record, record_for_user

__all__ = ["audited_accounts", "record", "record_for_user"]
