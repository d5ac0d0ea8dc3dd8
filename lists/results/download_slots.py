import time
from collections.abc import Generator, Iterator

from django.core.cache import cache

from accounts.models import Account
from apikeys.errors import ApiError

MAX_DOWNLOADS = 4
RETRY_SECONDS = 30
# A client may take SEND_SECONDS (config/server/worker.py) to read a piece, which is less.
_SLOT_SECONDS, _RENEWAL_SECONDS = 120, 20


def limit_downloads(account: Account, pieces: Iterator[bytes]) -> Generator[bytes]:
    """Yield the pieces. The first `next` raises ApiError if too many downloads run."""
    slots = [f"list-download:{account.public_id}:{number}" for number in range(MAX_DOWNLOADS)]
    slot = next((slot for slot in slots if cache.add(slot, True, _SLOT_SECONDS)), None)
    if slot is None:
        raise ApiError(
            "rate_limit_exceeded",
            f"Your account has {MAX_DOWNLOADS} downloads in progress. Wait until one has ended.",
            details={"limit": MAX_DOWNLOADS, "retry_after": RETRY_SECONDS},
            headers={"Retry-After": str(RETRY_SECONDS)},
        )
    try:
        renewed_at = time.monotonic()
        for piece in pieces:
            yield piece
            if time.monotonic() - renewed_at > _RENEWAL_SECONDS:
                renewed_at = time.monotonic()
                cache.set(slot, True, _SLOT_SECONDS)
    finally:
        cache.delete(slot)
