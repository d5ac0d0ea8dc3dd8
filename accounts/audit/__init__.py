from accounts.audit.models import SYSTEM
from accounts.audit.recording import audited_accounts, record, record_for_user

__all__ = ["SYSTEM", "audited_accounts", "record", "record_for_user"]
