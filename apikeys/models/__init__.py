from apikeys.models.keys import (
    EXPIRY_NOTICE,
    MAX_ACTIVE_KEYS,
    ApiKey,
    ApiKeyQuerySet,
    KeyChangeRefused,
    TooManyKeys,
)
from apikeys.models.lookup import KeyLookup
from apikeys.models.refusals import RefusalHour, count_refusal, refusals
from apikeys.models.upserts import build_increments, unique_by_key
