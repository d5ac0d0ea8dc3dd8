from accounts.events.recording import record_event
from accounts.events.types import EventType
