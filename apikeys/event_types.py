from accounts.events.types import EventType, integer, text, time

_ID = text("ID of the key (`key_…`)", "key_5Hc9TfWnQ3sEvXy7BgMk")
_EXPIRES_AT = time("When the key expires or has expired", "2026-12-31T00:00:00.000Z")
_EXPIRY = {"id": _ID, "expires_at": _EXPIRES_AT}

KEY_CREATED = EventType(
    "key.created",
    "Key created",
    "An API key was created.",
    {"id": _ID, "expires_at": {**_EXPIRES_AT, "type": ["string", "null"]}},
)
KEY_ROTATED = EventType(
    "key.rotated",
    "Key rotated",
    "An API key was replaced. The old one works until `expires_at`.",
    {**_EXPIRY, "replaced_by": text("ID of the new key", "key_9Xm4RdKpV6tZwCb3LhQs")},
)
KEY_REVOKED = EventType("key.revoked", "Key revoked", "An API key was revoked.", {"id": _ID})
KEY_EXPIRING = EventType(
    "key.expiring",
    "Key expires soon",
    "An API key that wasn't rotated expires within seven days.",
    _EXPIRY,
    is_emailed=True,
)
KEY_EXPIRED = EventType(
    "key.expired",
    "Key expired",
    "An API key expired, or the old one stopped working some time after its rotation.",
    _EXPIRY,
)
KEY_CREDIT_LIMIT_REACHED = EventType(
    "key.credit_limit_reached",
    "Credit limit of a key reached",
    "An API key used all credits of its monthly limit. Recorded once per month.",
    {
        "id": _ID,
        "limit": integer("Credits per month", 5_000),
        "resets_at": time("When the limit resets", "2026-12-01T00:00:00.000Z"),
    },
    is_emailed=True,
)
