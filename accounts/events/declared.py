from accounts.events.types import EventType, text
from accounts.roles import Role

_STATE = text("State of the account", "suspended", values=["open", "suspended"])
_MEMBER = {
    "id": text("ID of the membership (`mem_…`)", "mem_8Lr3QxVnT5wYcKz2HdFp"),
    "role": text("Role in the account", "developer", values=Role.values),
}
_WEBHOOK = {"webhook": text("ID of the webhook (`whk_…`)", "whk_2Jt7NpWsR4vXbQy9GcLm")}

ACCOUNT_SUSPENDED = EventType(
    "account.suspended",
    "Account suspended",
    "Our staff suspended the account. Its API keys are refused with 403.",
    {"state": _STATE},
)
ACCOUNT_REINSTATED = EventType(
    "account.reinstated",
    "Account reinstated",
    "Our staff lifted the suspension. The API keys work again.",
    {"state": {**_STATE, "examples": ["open"]}},
)
MEMBER_JOINED = EventType(
    "member.joined", "Member joined", "A user accepted an invitation.", _MEMBER
)
MEMBER_REMOVED = EventType(
    "member.removed", "Member removed", "A member left or was removed.", _MEMBER
)
WEBHOOK_TEST = EventType(
    "webhook.test", "Test event", "You sent a test event, to this webhook only.", _WEBHOOK
)
