"""The Idempotency-Key of requests that create a list: a retry gets the first response."""

import hashlib

from apikeys.errors import ApiError
from apikeys.request import ApiRequest
from validation.models import Replay


def fingerprint(request: ApiRequest, body: bytes) -> str:
    """Return what tells a retry from another request: all that the response depends on."""
    meta = request.META
    parts = (meta.get("CONTENT_TYPE", ""), meta.get("QUERY_STRING", ""))
    return " ".join((*parts, hashlib.sha256(body).hexdigest()))


def find_replay(request: ApiRequest, key: str, sent: str) -> bytes | None:
    """Return the stored response. Raise if the key was used for another request."""
    replay = Replay.objects.find(request.call.key.account, key)
    if replay is None:
        return None
    if not replay.is_for_list(sent):
        raise ApiError("idempotency_key_reused", param="Idempotency-Key")
    return replay.body.encode()
