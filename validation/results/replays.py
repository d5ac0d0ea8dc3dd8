from uuid import UUID

from accounts.models import Account
from apikeys.errors import ApiError
from validation.models import Replay, StoredResult
from validation.models.stored_results import MAX_CLOCK_DIFFERENCE
from validation.results.stored_results import pack, unpack_bytes, with_balance


def store_replay(replay: Replay, body: bytes) -> None:
    """Store the response to a batch or list. Call it last in the transaction."""
    StoredResult.objects.bulk_insert([(replay.result_id, replay.account_id, pack(body))]).run()
    replay.store()


def find_response(account: Account, idempotency_key: str, request_digest: UUID) -> bytes | None:
    replay = Replay.objects.find(account, idempotency_key)
    if replay is None:
        return None
    body = None if replay.is_expired else _read_response(replay)
    if body is None:
        # It has expired or can't be read, so the key can be used again.
        Replay.objects.filter(pk=replay.pk).delete_with_responses()
    elif replay.request_digest != request_digest:
        raise ApiError("idempotency_key_reused", param="Idempotency-Key")
    return body


def _read_response(replay: Replay) -> bytes | None:
    at = replay.created_at
    times = (at - MAX_CLOCK_DIFFERENCE, at + MAX_CLOCK_DIFFERENCE)
    stored = StoredResult.objects.filter(result_id=replay.result_id, at__range=times).first()
    body = unpack_bytes(stored.packed) if stored else None
    if body is None or body.startswith(b"["):
        # A batch from which an erasure removed results.
        return None
    if replay.balance is None:
        return body
    return with_balance(body, replay.balance)
