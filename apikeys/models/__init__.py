from apikeys.models.counting import additions, unique_by_key
from apikeys.models.keys import (
    MOST_ACTIVE,
    SOON,
    USE_NOTED_EVERY,
    AlreadyRotated,
    ApiKey,
    ApiKeyQuerySet,
    KeyRefused,
    TooManyKeys,
)
from apikeys.models.lookup import KeyLookup
from apikeys.models.refusals import RefusalHour

__all__ = [
    "MOST_ACTIVE",
    "SOON",
    "USE_NOTED_EVERY",
    "AlreadyRotated",
    "ApiKey",
    "ApiKeyQuerySet",
    "KeyLookup",
    "KeyRefused",
    "RefusalHour",
    "TooManyKeys",
    "additions",
    "unique_by_key",
]
