import hashlib
from collections.abc import Callable
from uuid import UUID

import orjson
from django.db import transaction

from apikeys.errors import ApiError
from apikeys.rest.responses import ApiResponse
from apikeys.rest.view import ApiView
from lists.api.documents import list_document
from lists.models import AddressList
from runtime.json_text import render_json
from validation.api import read_idempotency_key
from validation.ids import RESPONSE_PREFIX, new_ids
from validation.models import Replay, ReplayExists
from validation.models.replays import digest
from validation.results.replays import find_response, store_replay


class IdempotentView(ApiView):
    """Returns the first response to a retry with the same Idempotency-Key."""

    idempotency_key: str | None = None
    digest: UUID
    replay: bytes | None = None

    def identify_request(self, body: bytes) -> None:
        """Read the key, and compute what tells a retry from another request."""
        self.idempotency_key = read_idempotency_key(self.request)
        meta, path = self.request.META, self.request.path_info.strip("/").split("/")
        # Behind v1/lists: the list and the operation, if any.
        parts = (meta.get("CONTENT_TYPE", ""), meta.get("QUERY_STRING", ""), *path[2:])
        self.digest = digest("list", " ".join((*parts, hashlib.sha256(body).hexdigest())))

    def find_replay(self) -> None:
        if self.idempotency_key is not None:
            account = self.request.call.key.account
            self.replay = find_response(account, self.idempotency_key, self.digest)

    def respond_once(self, action: Callable[[], AddressList], status: int = 200) -> ApiResponse:
        """Perform the action and store its response, unless one is stored."""
        body, headers = self.replay, {}
        if body is None:
            try:
                body = self._perform(action)
            except (ApiError, ReplayExists):
                # Two requests raced with one key: return the first one's response.
                self.find_replay()
                if self.replay is None:
                    raise
                body = self.replay
        if self.replay is not None:
            headers["Idempotent-Replayed"] = "true"
        if status == 201:
            headers["Location"] = f"/v1/lists/{orjson.loads(body)['id']}"
        return ApiResponse(body, status, headers)

    @transaction.atomic
    def _perform(self, action: Callable[[], AddressList]) -> bytes:
        body, key = render_json(list_document(action())), self.idempotency_key
        if key is not None:
            (response_id,) = new_ids(RESPONSE_PREFIX, 1)
            values = {"result_id": response_id, "is_free": True}
            account = self.request.call.key.account
            store_replay(Replay.of_request(account, key, self.digest, **values), body)
        return body
