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
from apikeys.models.lookup import Lookup
from apikeys.models.refusals import RefusalHour
from apikeys.models.uniqueness import unique_by_key

__all__ = [
    "MOST_ACTIVE",
    "SOON",
    "USE_NOTED_EVERY",
    "AlreadyRotated",
    "ApiKey",
    "ApiKeyQuerySet",
    "KeyRefused",
    "Lookup",
    "RefusalHour",
    "TooManyKeys",
    "unique_by_key",
]
