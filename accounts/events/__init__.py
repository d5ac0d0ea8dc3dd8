from accounts.events.recording import record_event
from accounts.events.types import EventType

__all__ = ["EventType", "record_event"]
