"""POST /v1/lists, PUT /v1/lists/{id}/parts/{n} and POST /v1/lists/{id}/parse."""

import orjson
from django.db import transaction

from apikeys.actor import Actor
from apikeys.errors import ApiError
from apikeys.request import ApiRequest
from apikeys.rest.negotiation import read_media_type
from apikeys.rest.request_body import (
    read_bytes,
    read_object,
    read_strings,
    refuse_unknown_parameters,
)
from apikeys.rest.responses import ApiResponse, json_response, render
from apikeys.rest.schema import COMMON_ERRORS, describe
from validation.api import MAX_EMAIL_LENGTH, read_idempotency_key
from validation.lists import services
from validation.lists.api.actions import ActionView
from validation.lists.api.base import LIST_ERRORS, ListView
from validation.lists.api.documents import list_document
from validation.lists.api.examples import PARSING_EXAMPLE, PART_EXAMPLE, UPLOADING_EXAMPLE
from validation.lists.api.schema import LIST_ID
from validation.lists.api.serializers import ListSerializer
from validation.lists.api.uploads.digests import read_sha256
from validation.lists.api.uploads.options import (
    FILE_FIELDS,
    FILE_PARAMETERS,
    options_from_json,
    options_from_query,
    refuse_other_fields,
)
from validation.lists.api.uploads.replays import find_replay, fingerprint
from validation.lists.api.uploads.schema import (
    CONTENT_DIGEST,
    CREATE_PARAMETERS,
    CREATE_REQUEST,
    PART_NUMBER,
    PART_REQUEST,
)
from validation.lists.api.uploads.serializers import ListPartSerializer
from validation.lists.api.views import ListsView
from validation.lists.uploads.options import DEFAULT_OPTIONS, ListOptions
from validation.lists.uploads.sources import JSON_TYPE
from validation.models import AddressList, Replay, ReplayExists

_BODY_ERRORS = ("invalid_json", "invalid_field", "unsupported_media_type")
FILE_TYPES = (
    "text/csv",
    "text/tab-separated-values",
    "text/plain",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
)
_UNSUPPORTED = f"Send the list as one of {', '.join((JSON_TYPE, *FILE_TYPES))}, uncompressed."


class UploadView(ListsView):
    """All operations on /v1/lists: those of ListsView, and creating a list."""

    chosen: ListOptions = DEFAULT_OPTIONS
    # None for a list whose parts follow.
    content: bytes | None = None
    idempotency_key: str | None = None
    fingerprint: str = ""
    replay: bytes | None = None

    def accepted_parameters(self) -> tuple[str, ...]:
        if self.request.method != "POST":
            return super().accepted_parameters()
        return FILE_PARAMETERS

    def prepare(self) -> None:
        if self.request.method != "POST":
            super().prepare()
            return
        media_type = self._media_type()
        if media_type == JSON_TYPE:
            self._read_json()
        elif media_type in FILE_TYPES:
            self._read_file()
        else:
            raise ApiError("unsupported_media_type", _UNSUPPORTED)
        self.idempotency_key = read_idempotency_key(self.request)

    def find_replay(self) -> None:
        if self.idempotency_key is not None:
            self.replay = find_replay(self.request, self.idempotency_key, self.fingerprint)

    @describe(
        "create-list",
        "Create a list",
        "Creates a list from up to 10,000 addresses as JSON, or from a file of up to 8 MB: CSV, "
        "tab-separated values, one address per line, or XLSX. For a file, send the options as "
        "query parameters. For a larger one, send `parts: true`, upload it in parts, and then ask "
        "to parse it. Creating a list is free.",
        ListSerializer,
        tag="Lists",
        request=CREATE_REQUEST,
        parameters=CREATE_PARAMETERS,
        examples={"Parsing": PARSING_EXAMPLE, "Waiting for its parts": UPLOADING_EXAMPLE},
        refusals=(
            *COMMON_ERRORS,
            *_BODY_ERRORS,
            *("missing_field", "list_too_large", "too_many_lists", "idempotency_key_reused"),
        ),
        status=201,
    )
    def post(self, request: ApiRequest) -> ApiResponse:
        if self.replay is not None:
            return _created(self.replay, is_replay=True)
        try:
            return _created(self._create())
        except ReplayExists:
            # Two requests raced with one key: both get the first one's response.
            self.find_replay()
            if self.replay is None:
                raise
            return _created(self.replay, is_replay=True)

    def _media_type(self) -> str:
        return read_media_type(self.request.META)

    def _read_json(self) -> None:
        document = read_object(self.request)
        parts = document.get("parts", False)
        if not isinstance(parts, bool):
            raise ApiError("invalid_field", "parts must be true or false.", param="parts")
        if parts:
            refuse_other_fields(document, "parts", *FILE_FIELDS)
            self.chosen = options_from_json(document)
        else:
            emails = read_strings(
                document,
                "emails",
                max_items=services.MAX_EMAILS,
                min_length=0,
                max_length=MAX_EMAIL_LENGTH,
            )
            refuse_other_fields(document, "emails", "parts")
            self.chosen = options_from_json(document, content_type=JSON_TYPE)
            self.content = orjson.dumps(emails)
        # These have fields instead.
        refuse_unknown_parameters(self.request, ())
        self.fingerprint = fingerprint(self.request, orjson.dumps(document))

    def _read_file(self) -> None:
        self.content = read_bytes(self.request)
        if not self.content:
            raise ApiError("invalid_field", "The body is empty. Send the bytes of the file.")
        self.chosen = options_from_query(self.request)
        self.fingerprint = fingerprint(self.request, self.content)

    @transaction.atomic
    def _create(self) -> bytes:
        actor, key = Actor.of_call(self.request.call), self.idempotency_key
        if self.content is None:
            created = services.create_list(actor=actor, options=self.chosen)
        else:
            created = services.upload_list(actor=actor, content=self.content, options=self.chosen)
        body = render(list_document(created))
        if key is not None:
            Replay.objects.delete_expired(actor.account, key)
            Replay.objects.store_list(actor.account, key, self.fingerprint, body)
        return body


def _created(body: bytes, *, is_replay: bool = False) -> ApiResponse:
    headers = {"Location": f"/v1/lists/{orjson.loads(body)['id']}"}
    if is_replay:
        headers["Idempotent-Replayed"] = "true"
    return ApiResponse(body, status=201, headers=headers)


class PartView(ListView):
    sha256: str
    content: bytes

    def prepare(self) -> None:
        # Any media type: a part alone has none.
        read_media_type(self.request.META)
        self.sha256 = read_sha256(self.request.META)
        self.content = read_bytes(self.request)

    @describe(
        "upload-list-part",
        "Upload a part of a list",
        "Stores up to 8 MB of a file. Parts are numbered from 1, and may arrive in any order and "
        "at the same time. To resume an upload, send the parts again whose response is missing: "
        "the same bytes twice are fine.",
        ListPartSerializer,
        tag="Lists",
        request=PART_REQUEST,
        parameters=[LIST_ID, PART_NUMBER, CONTENT_DIGEST],
        examples={"A part": PART_EXAMPLE},
        refusals=(
            *LIST_ERRORS,
            *("invalid_field", "missing_field", "unsupported_media_type"),
            *("invalid_state", "part_conflict", "list_too_large"),
        ),
    )
    def put(self, request: ApiRequest, list_id: str, number: int) -> ApiResponse:
        part = services.store_part(
            address_list=self.address_list,
            number=number,
            content=self.content,
            sha256=self.sha256,
        )
        return json_response({"number": part.number, "bytes": part.size, "sha256": part.sha256})


class ParseView(ActionView):
    @describe(
        "parse-list",
        "Parse a list",
        "Ends the upload and reads the file. Its parts must be numbered from 1 without gaps. The "
        "list is `parsing`, and then `ready` or `failed`.",
        ListSerializer,
        tag="Lists",
        parameters=[LIST_ID],
        examples={"Parsing": PARSING_EXAMPLE},
        refusals=(*LIST_ERRORS, *_BODY_ERRORS, "invalid_state"),
    )
    def post(self, request: ApiRequest, list_id: str) -> ApiResponse:
        services.begin_parsing(address_list=self.address_list)
        current = AddressList.objects.select_related("hold").get(pk=self.address_list.pk)
        return json_response(list_document(current))
