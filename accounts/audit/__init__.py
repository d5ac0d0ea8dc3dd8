from accounts.audit.actor import Actor
from accounts.audit.models import SYSTEM
from accounts.audit.recording import record, record_for_user
